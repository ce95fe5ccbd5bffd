/**
 * The store in a PostgreSQL database that several nodes share. Transactions take one lock of the database, so that rules over
 * many rows (the balance, the slots, the quota of a month) hold on all nodes as they do with SQLite's single writer.
 */
import pg from 'pg';
import { configurationFailure, type Failure } from '../../base/failure.ts';
import { MARK_TABLE, type Mark, markedFolderFailure, READ_MARK } from './mark.ts';
import {
  DatabaseAway,
  type Manner,
  type SqlValue,
  type Statements,
  type Store,
  type Transaction,
} from './store.ts';

/** Most connections of one node. PostgreSQL allows 100 in all by default. */
const CONNECTIONS = 8;
/** How long a connection may take: a node should answer 503 before its callers give up. */
const CONNECT_TIMEOUT_MS = 5000;
/** Shorter than firewalls forget a connection on which nothing moves. */
const KEEP_ALIVE_MS = 30_000;
/** How long a statement waits for the lock of transactions, or for a row. */
const LOCK_MS = 5000;
/**
 * A node that stands still within a transaction holds the lock of all others. Shorter than they wait for it, and longer than a busy
 * node pauses: with 10,000 lines to read and no free core, more than 1 s.
 */
const IDLE_MS = 3000;
/** Limits for one statement, in ms. */
interface Patience {
  /** The server ends it after this time. */
  readonly server: number;
  /** Without an answer, the connection counts as dead: networks that drop packets do not say so. Longer than that of the server. */
  readonly client: number;
}
/** Statements that a request waits for: longer than the lock. */
const REQUEST_PATIENCE: Patience = { server: 5500, client: 6500 };
/** Sweeps and moves. */
const LONG_PATIENCE: Patience = { server: 30_000, client: 35_000 };
/** The end of a transaction that has failed. If there is no answer, the connection is closed. */
const ROLLBACK = { text: 'ROLLBACK', query_timeout: 2000 };
/**
 * A connection that was checked less recently than this is checked before it is used: a firewall may have dropped it, or a newer
 * program may have migrated the tables.
 */
const CHECKED_MS = 1000;
/** Much longer than a round trip to a database far away. */
const CHECK_TIMEOUT_MS = 2000;

interface Limited extends pg.QueryConfig<SqlValue[]> {
  readonly types?: pg.CustomTypesConfig;
  /** How long this process waits for the answer, in ms. The types of pg do not have it. */
  readonly query_timeout: number;
}

function ask<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  statement: Limited,
): Promise<pg.QueryResult<Row>> {
  return client.query<Row>(statement);
}

/** Runs statements without parameters, separated by semicolons. */
function askSeveral<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  statements: Limited,
): Promise<pg.QueryResult<Row>[]> {
  // A cast: pg returns a list then, which its types do not say.
  return client.query(statements) as unknown as Promise<pg.QueryResult<Row>[]>;
}

/** Distinguishes our locks from those of other programs on the database; any number will do. */
const LOCKS = 7_118_563;
/** Every connection to an account holds this lock together with the others, so that a move can detect that there are none. */
const USERS = LOCKS + 1;

/** 64-bit integers and their sums, which are times, sizes and credits below 2 ** 53. */
const NUMERIC_TYPES: readonly number[] = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC];

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    NUMERIC_TYPES.includes(oid) ? Number : pg.types.getTypeParser(oid, format),
};

/** Longer than the server needs to notice that a process has died; nodes have their connections until they end. */
const ALONE_TIMEOUT_MS = 2000;
const LOCK_TIMEOUT = '55P03';

export interface PostgresStore extends Store {
  /** Runs statements without parameters, separated by semicolons. */
  script(tx: Transaction, sql: string): Promise<void>;
  /** Opens two connections at a time. @throws Failure behind a pooler whose clients share a session */
  refuseSharedSessions(): Promise<void>;
  /** From now on, refuses every statement once a newer program has made the tables unusable for those that know `version`. */
  refuseIfNewer(version: number, failure: Failure): void;
}

/** Where an account is. */
export interface PostgresAddress {
  /** `postgres://user:password@host/database` */
  readonly url: string;
  /** The schema of the tables: lower-case letters, digits and `_`. */
  readonly schema: string;
}

/** Server and name of a database for messages: never the password. */
export function describeDatabase(url: string): string {
  const { hostname, pathname, searchParams, port: ownPort } = new URL(url);
  // As pg reads them: a folder is that of a socket.
  const named = searchParams.get('host') ?? hostname.replaceAll(/%2f/gi, '/');
  const port = searchParams.get('port') ?? ownPort;
  const host = named || process.env.PGHOST || 'localhost';
  if (host.startsWith('/')) return `${pathname.slice(1)} (socket in ${host})`;
  return `${host}${port === '' ? '' : `:${port}`}${pathname}`;
}

/**
 * Prepares connections to a database. The first statement connects.
 * @param alone for the only connection to an account, of any mark: the failure if there are others
 */
export function openPostgresStore({ url, schema }: PostgresAddress, alone?: () => Failure): PostgresStore {
  const users = `${USERS}, hashtext('${schema}')`;
  const patience = alone === undefined ? REQUEST_PATIENCE : LONG_PATIENCE;
  // Not as parameters of the connection, which PgBouncer refuses.
  const session = `
    SELECT current_setting('${SESSION}', true) AS other;
    SET ${SESSION} = 'taken';
    SET search_path = ${schema};
    SET lock_timeout = ${LOCK_MS};
    SET statement_timeout = ${patience.server};
    SET idle_in_transaction_session_timeout = ${IDLE_MS}`;
  const prepare = async (client: pg.ClientBase) => {
    const results = await askSeveral<{ other: string | null }>(client, {
      text: session,
      query_timeout: CONNECT_TIMEOUT_MS,
    });
    if (results[0]?.rows[0]?.other) throw sharedSessionFailure(describeDatabase(url));
  };
  const join = async (client: pg.ClientBase) => {
    await prepare(client);
    await client.query(`SELECT pg_advisory_lock_shared(${users})`);
    const found = await client.query(`SELECT 1 WHERE to_regclass('${MARK_TABLE}') IS NOT NULL`);
    if (found.rowCount === 0) return;
    const [mark] = (await client.query<Mark>({ text: READ_MARK, types })).rows;
    if (mark !== undefined) throw markedFolderFailure(mark, describeDatabase(url));
  };
  const joinAlone = async (client: pg.ClientBase, failure: Failure) => {
    await prepare(client);
    try {
      await client.query(
        `SET lock_timeout = ${ALONE_TIMEOUT_MS}; SELECT pg_advisory_lock(${users}); SET lock_timeout = ${LOCK_MS}`,
      );
    } catch (error) {
      throw error instanceof pg.DatabaseError && error.code === LOCK_TIMEOUT ? failure : error;
    }
  };
  const pool = new pg.Pool({
    connectionString: url,
    ...(alone === undefined ? { max: CONNECTIONS, min: 1 } : { max: 1, idleTimeoutMillis: 0 }),
    onConnect: (client) => (alone === undefined ? join(client) : joinAlone(client, alone())),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'vloc',
    // Statements that a transaction sends together take one round trip, while all others wait for its lock.
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  });
  // The statement that needs a broken connection reports it, and the next one gets another connection.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  let newer: { version: number; failure: Failure } | null = null;
  /** Steady time of the last check of each connection, in ms. */
  const checkedAt = new WeakMap<pg.PoolClient, number>();
  /** Steady time when a connection did not answer: those that were checked before are probably dead, too. */
  let distrustedAt = Number.NEGATIVE_INFINITY;
  const distrust = (error: unknown) => {
    if (!(error instanceof pg.DatabaseError)) distrustedAt = performance.now();
  };

  const refuseVersion = (oldest: number | undefined) => {
    if (newer === null || (oldest ?? 0) <= newer.version) return;
    const { message, advice } = newer.failure.facts;
    throw new DatabaseAway(`${message}. ${advice}`, { cause: newer.failure });
  };

  /** Takes a connection that answers. The caller releases it. */
  const take = async (): Promise<pg.PoolClient> => {
    for (;;) {
      const client = await passing(pool.connect());
      const now = performance.now();
      const checked = checkedAt.get(client);
      if (checked === undefined || alone !== undefined) {
        checkedAt.set(client, now);
        if (newer === null) return client;
      } else if (checked <= distrustedAt) {
        client.release(true);
        continue;
      } else if (now - checked < CHECKED_MS) return client;
      const text = newer === null ? 'SELECT 0 AS oldest' : OLDEST;
      let oldest: number | undefined;
      try {
        const check = { text, types, query_timeout: CHECK_TIMEOUT_MS };
        oldest = (await ask<{ oldest: number }>(client, check)).rows[0]?.oldest;
      } catch (error) {
        client.release(true);
        distrust(error);
        // A connection that was just made says what is wrong with the server.
        if (checked === undefined) return passing(Promise.reject(error));
        continue;
      }
      try {
        refuseVersion(oldest);
      } catch (error) {
        client.release();
        throw error;
      }
      checkedAt.set(client, performance.now());
      return client;
    }
  };

  /** Runs one statement on a connection of its own, again if the tables were migrated since it was prepared. */
  const runAlone = async <Row extends pg.QueryResultRow>(
    statement: Omit<Limited, 'query_timeout'>,
  ): Promise<pg.QueryResult<Row>> => {
    for (let tries = 0; ; tries += 1) {
      const client = await take();
      try {
        const result = await ask<Row>(client, { ...statement, query_timeout: patience.client });
        client.release();
        return result;
      } catch (error) {
        client.release(true);
        distrust(error);
        if (tries > 0 || !(error instanceof pg.DatabaseError && error.code === CHANGED_TABLE)) {
          return passing(Promise.reject(error));
        }
      }
    }
  };

  const BEGIN: Readonly<Record<Manner, string>> = {
    usual: 'BEGIN',
    lease: 'BEGIN; SET LOCAL synchronous_commit = off',
    long: `BEGIN; SET LOCAL statement_timeout = ${LONG_PATIENCE.server}`,
  };
  // By its name, because the first transaction creates the schema.
  const lock = `SELECT pg_advisory_xact_lock(${LOCKS}, hashtext('${schema}'))`;
  /** Takes the lock of a transaction that has begun. */
  const takeLock = async (client: pg.PoolClient) => {
    const version = newer === null ? 'SELECT 0 AS oldest' : OLDEST;
    const asked = { text: `${lock}; ${version}`, types, query_timeout: REQUEST_PATIENCE.client };
    const results = await passing(askSeveral<{ oldest: number }>(client, asked));
    // Nobody migrates the tables while the lock is held.
    refuseVersion(results.at(-1)?.rows[0]?.oldest);
  };

  /** @param client null for a connection of its own for each statement. @param isOpen false once it belongs to others */
  const statementsOn = (client: pg.PoolClient | null, limits: Patience, isOpen = () => true): Statements => {
    const query = async (sql: string, values: readonly SqlValue[]) => {
      if (!isOpen()) throw new Error('a statement came after its transaction had ended');
      const { name, text } = translate(sql);
      const statement = { name, text, values: [...values], types };
      return client === null
        ? runAlone(statement)
        : passing(ask(client, { ...statement, query_timeout: limits.client }));
    };
    return {
      async get<Row>(sql: string, ...values: SqlValue[]) {
        return (await query(sql, values)).rows[0] as Row | undefined; // a cast: the statement names its columns
      },
      async all<Row>(sql: string, ...values: SqlValue[]) {
        return (await query(sql, values)).rows as Row[]; // a cast, as above
      },
      async run(sql, ...values) {
        return (await query(sql, values)).rowCount ?? 0;
      },
    };
  };

  const clients = new WeakMap<Transaction, pg.PoolClient>();
  return {
    ...statementsOn(null, patience),
    async transaction(work, manner = 'usual') {
      const limits = manner === 'long' ? LONG_PATIENCE : patience;
      const client = await take();
      let broken: Error | boolean = false;
      let isOpen = true;
      try {
        // Before anything else is sent: without it, each statement would be a transaction of its own.
        await passing(ask(client, { text: BEGIN[manner], query_timeout: limits.client }));
        const tx: Transaction = { ...statementsOn(client, limits, () => isOpen), isTransaction: true };
        clients.set(tx, client);
        // The lock and the first statements go together. If the lock is refused, so are they.
        const locking = manner === 'lease' ? undefined : takeLock(client);
        const [locked, worked] = await Promise.allSettled([locking, work(tx)]);
        if (locked.status === 'rejected') throw locked.reason;
        if (worked.status === 'rejected') throw worked.reason;
        const result = worked.value;
        isOpen = false;
        const { command } = await passing(ask(client, { text: 'COMMIT', query_timeout: limits.client }));
        // After a statement that failed, the server rolls back instead, without an error.
        if (command !== 'COMMIT') throw new Error('a statement of the transaction failed');
        return result;
      } catch (error) {
        isOpen = false;
        // A connection that cannot roll back is closed, and the server rolls back.
        await client.query(ROLLBACK).catch((second: Error) => {
          broken = second;
          distrust(second);
        });
        // Its prepared statements are for the tables as they were.
        if (isChangedTable(error)) broken = true;
        throw error;
      } finally {
        client.release(broken);
      }
    },
    async script(tx, sql) {
      await passing(clients.get(tx)?.query(sql) ?? Promise.reject(new Error('the transaction has ended')));
    },
    async refuseSharedSessions() {
      const first = await take();
      try {
        (await take()).release();
      } finally {
        first.release();
      }
    },
    refuseIfNewer(version, failure) {
      newer = { version, failure };
    },
    close: () => pool.end(),
  };
}

/** A setting that a session has once a client uses it. A pooler that gives a session to another client first clears it. */
const SESSION = 'vloc.session';

function sharedSessionFailure(shown: string): Failure {
  return configurationFailure(
    'DATABASE_UNUSABLE',
    `the database ${shown} is behind a pooler whose clients share sessions`,
    'Set pool_mode = session in PgBouncer, or use the address of PostgreSQL itself.',
  );
}

/** The tables were migrated after a connection had prepared the statement ("cached plan must not change result type"). */
const CHANGED_TABLE = '0A000';

function isChangedTable(error: unknown): boolean {
  const cause = error instanceof DatabaseAway ? error.cause : error;
  return cause instanceof pg.DatabaseError && cause.code === CHANGED_TABLE;
}

/** Oldest version of the tables that a program must know to use them. */
const OLDEST = 'SELECT oldest FROM vloc_version';

/**
 * Classes of codes for temporary errors: lost connections, lacking resources (a full disk too), conflicts of transactions, locks that
 * others hold, statements that were ended, tables that were migrated, a server that starts or stops. Source: PostgreSQL, "Error Codes".
 */
const PASSING = /^(?:08|0A000|25P03|53|40|55P03|57)/;

/** @throws DatabaseAway for a temporary error; others unchanged */
async function passing<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const isRefused = error instanceof pg.DatabaseError && !PASSING.test(error.code ?? '');
    if (isRefused) throw error;
    throw new DatabaseAway('the database is not reachable now', { cause: error });
  }
}

interface Translated {
  /** The server prepares a statement once for each name and connection. */
  readonly name: string;
  readonly text: string;
}

const translations = new Map<string, Translated>();

/** Numbers the parameters of a statement: `?` becomes `$1`, `$2`, and `?1` becomes `$1`. Quoted texts stay. */
function translate(sql: string): Translated {
  const known = translations.get(sql);
  if (known !== undefined) return known;
  let last = 0;
  const text = sql.replaceAll(/'[^']*'|\?(\d*)/g, (found, number: string | undefined) => {
    if (number === undefined) return found;
    last += 1;
    return `$${number === '' ? last : number}`;
  });
  const translated = { name: `vloc${translations.size}`, text };
  translations.set(sql, translated);
  return translated;
}
