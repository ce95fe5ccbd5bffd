/**
 * Connections to a PostgreSQL database: few, each prepared once, checked before it is used after a pause, and refused when a newer
 * program has migrated the tables.
 */
import pg from 'pg';
import { configurationFailure, type Failure } from '../../base/failure.ts';
import { asTemporary } from './database-failures.ts';
import { MARK_TABLE, type Mark, markedFolderFailure, READ_MARK } from './mark.ts';
import { DatabaseAway, type SqlValue } from './store.ts';

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
export interface Patience {
  /** The server ends it after this time. */
  readonly server: number;
  /** Without an answer, the connection counts as dead: networks that drop packets do not say so. Longer than that of the server. */
  readonly client: number;
}
/** Statements that a request waits for: longer than the lock. */
export const REQUEST_PATIENCE: Patience = { server: 5500, client: 6500 };
/** Sweeps and moves. */
export const LONG_PATIENCE: Patience = { server: 30_000, client: 35_000 };
/**
 * A connection that was checked less recently than this is checked before it is used: a firewall may have dropped it, or a newer
 * program may have migrated the tables.
 */
const CHECKED_MS = 1000;
/** Much longer than a round trip to a database far away. */
const CHECK_TIMEOUT_MS = 2000;

export interface Limited extends pg.QueryConfig<SqlValue[]> {
  readonly types?: pg.CustomTypesConfig;
  /** How long this process waits for the answer, in ms. The types of pg do not have it. */
  readonly query_timeout: number;
}

export function runStatement<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  statement: Limited,
): Promise<pg.QueryResult<Row>> {
  return client.query<Row>(statement);
}

/** Runs statements without parameters, separated by semicolons. */
export function runStatements<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  statements: Limited,
): Promise<pg.QueryResult<Row>[]> {
  // A cast: pg returns a list then, which its types do not say.
  return client.query(statements) as unknown as Promise<pg.QueryResult<Row>[]>;
}

/** Distinguishes our locks from those of other programs on the database; any number will do. */
export const LOCKS = 7_118_563;
/** Every connection to an account holds this lock together with the others, so that a move can detect that there are none. */
const USERS = LOCKS + 1;

/** 64-bit integers and their sums, which are times, sizes and credits below 2 ** 53. */
const NUMERIC_TYPES: readonly number[] = [pg.types.builtins.INT8, pg.types.builtins.NUMERIC];

export const COLUMN_TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    NUMERIC_TYPES.includes(oid) ? Number : pg.types.getTypeParser(oid, format),
};

/** Longer than the server needs to notice that a process has died; nodes have their connections until they end. */
const ALONE_TIMEOUT_MS = 2000;
const LOCK_TIMEOUT = '55P03';

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

export interface Connections {
  /** Limits of a statement that names none. */
  readonly patience: Patience;
  /** Waits for an answer of the database. @throws DatabaseAway for an error that an operator or time can end; others unchanged */
  temporary<Result>(work: Promise<Result>): Promise<Result>;
  /** Takes a connection that answers. The caller releases it. @throws DatabaseAway */
  take(): Promise<pg.PoolClient>;
  /** A connection gave this error: those that were checked before it are probably dead, too. */
  distrust(error: unknown): void;
  /** Selects the oldest version that must be known, for `refuseVersion`. */
  versionQuery(): string;
  /** @throws DatabaseAway for tables that this program does not know */
  refuseVersion(oldest: number | undefined): void;
  /** From now on, refuses every statement once a newer program has made the tables unusable for those that know `version`. */
  refuseIfNewer(version: number, failure: Failure): void;
  close(): Promise<void>;
}

/**
 * Prepares connections to a database. The first statement connects.
 * @param alone for the only connection to an account, of any mark: the failure if there are others
 */
export function openConnections({ url, schema }: PostgresAddress, alone?: () => Failure): Connections {
  const shown = describeDatabase(url);
  const temporary = <Result>(work: Promise<Result>) => asTemporary(shown, work);
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
    const results = await runStatements<{ other: string | null }>(client, {
      text: session,
      query_timeout: CONNECT_TIMEOUT_MS,
    });
    if (results[0]?.rows[0]?.other) throw sharedSessionFailure(shown);
  };
  const join = async (client: pg.ClientBase) => {
    await prepare(client);
    await client.query(`SELECT pg_advisory_lock_shared(${users})`);
    const found = await client.query(`SELECT 1 WHERE to_regclass('${MARK_TABLE}') IS NOT NULL`);
    if (found.rowCount === 0) return;
    const [mark] = (await client.query<Mark>({ text: READ_MARK, types: COLUMN_TYPES })).rows;
    if (mark !== undefined) throw markedFolderFailure(mark, shown);
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

  const versionQuery = () => (newer === null ? 'SELECT 0 AS oldest' : OLDEST);
  const refuseVersion = (oldest: number | undefined) => {
    if (newer === null || (oldest ?? 0) <= newer.version) return;
    throw new DatabaseAway(newer.failure.facts, { cause: newer.failure });
  };

  // It also throws, for a file in the address that cannot be read.
  const connect = async () => pool.connect();
  /** Takes a connection that answers. The caller releases it. */
  const take = async (): Promise<pg.PoolClient> => {
    for (;;) {
      const client = await temporary(connect());
      const now = performance.now();
      const checked = checkedAt.get(client);
      if (checked === undefined || alone !== undefined) {
        checkedAt.set(client, now);
        if (newer === null) return client;
      } else if (checked <= distrustedAt) {
        client.release(true);
        continue;
      } else if (now - checked < CHECKED_MS) return client;
      const text = versionQuery();
      let oldest: number | undefined;
      try {
        const check = { text, types: COLUMN_TYPES, query_timeout: CHECK_TIMEOUT_MS };
        oldest = (await runStatement<{ oldest: number }>(client, check)).rows[0]?.oldest;
      } catch (error) {
        client.release(true);
        distrust(error);
        // A connection that was just made says what is wrong with the server.
        if (checked === undefined) return temporary(Promise.reject(error));
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

  return {
    patience,
    temporary,
    take,
    distrust,
    versionQuery,
    refuseVersion,
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

/** Oldest version of the tables that a program must know to use them. */
const OLDEST = 'SELECT oldest FROM vloc_version';
