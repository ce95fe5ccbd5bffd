/**
 * The store in a PostgreSQL database that several nodes share. Transactions take one lock of the database, so that rules over
 * many rows (the balance, the slots, the quota of a month) hold on all nodes as they do with SQLite's single writer.
 */
import pg from 'pg';
import type { Failure } from '../../errors/failure.ts';
import { MARK_TABLE, type Mark, READ_MARK, refuseMarked } from './mark.ts';
import { DatabaseAway, type SqlValue, type Statements, type Store, type Transaction } from './store.ts';

/** Most connections of one node. PostgreSQL allows 100 in all by default. */
const CONNECTIONS = 8;
/** How long a connection may take: a node should answer 503 before its callers give up. */
const CONNECT_TIMEOUT_MS = 5000;
/**
 * Limits of the server for a node that hangs or is cut off: how long a statement waits for the lock of transactions and how
 * long it may run, and how long a transaction may wait for its next statement. The last one frees the lock.
 */
const LIMITS_OF_SESSION =
  '-c lock_timeout=5000 -c statement_timeout=30000 -c idle_in_transaction_session_timeout=5000';

/**
 * How long this process waits for the answer to a statement outside a transaction, or to the begin of one: longer than the server
 * works on it. Without a limit, a server that is cut off is noticed after a quarter of an hour.
 */
const LIMITED = { query_timeout: 35_000 };
/** The same for the end of a transaction that has failed. If there is no answer, the connection is closed. */
const ROLLBACK = { text: 'ROLLBACK', query_timeout: 5000 };

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
  const join = async (client: pg.ClientBase) => {
    await client.query(`SELECT pg_advisory_lock_shared(${users})`);
    const found = await client.query(`SELECT 1 WHERE to_regclass('${MARK_TABLE}') IS NOT NULL`);
    if (found.rowCount === 0) return;
    const [mark] = (await client.query<Mark>({ text: READ_MARK, types })).rows;
    if (mark !== undefined) throw refuseMarked(mark, describeDatabase(url));
  };
  const joinAlone = async (client: pg.ClientBase, failure: Failure) => {
    try {
      await client.query(
        `SET lock_timeout = ${ALONE_TIMEOUT_MS}; SELECT pg_advisory_lock(${users}); RESET lock_timeout`,
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
    options: `${LIMITS_OF_SESSION} -c search_path=${schema}`,
    application_name: 'vloc',
    keepAlive: true,
  });
  // The statement that needs a broken connection reports it, and the next one gets another connection.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  let writes = 0;
  // By its name, because the first transaction creates the schema.
  const begin = `BEGIN; SELECT pg_advisory_xact_lock(${LOCKS}, hashtext('${schema}'))`;

  /** @param isOpen false once the connection belongs to others */
  const statementsOn = (client: pg.Pool | pg.PoolClient, isOpen = () => true): Statements => {
    const limit = client === pool ? LIMITED : {};
    const query = async (sql: string, values: readonly SqlValue[]) => {
      if (!isOpen()) throw new Error('a statement came after its transaction had ended');
      if (!READS.test(sql)) writes += 1;
      const { name, text } = translate(sql);
      return passing(client.query({ name, text, values: [...values], types, ...limit }));
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
    ...statementsOn(pool),
    async transaction(work) {
      const client = await passing(pool.connect());
      let broken: Error | boolean = false;
      let isOpen = true;
      try {
        await passing(client.query({ text: begin, ...LIMITED }));
        const tx: Transaction = { ...statementsOn(client, () => isOpen), isTransaction: true };
        clients.set(tx, client);
        const result = await work(tx);
        isOpen = false;
        const { command } = await passing(client.query('COMMIT'));
        // After a statement that failed, the server rolls back instead, without an error.
        if (command !== 'COMMIT') throw new Error('a statement of the transaction failed');
        return result;
      } catch (error) {
        isOpen = false;
        writes += 1;
        // A connection that cannot roll back is closed, and the server rolls back.
        await client.query(ROLLBACK).catch((second: Error) => {
          broken = second;
        });
        throw error;
      } finally {
        client.release(broken);
      }
    },
    // Changes whenever a transaction with changes begins or ends.
    revision: async () => (await passing(pool.query<{ seen: string }>(SNAPSHOT))).rows[0]?.seen,
    writes: () => writes,
    async script(tx, sql) {
      writes += 1;
      await passing(clients.get(tx)?.query(sql) ?? Promise.reject(new Error('the transaction has ended')));
    },
    close: () => pool.end(),
  };
}

const SNAPSHOT = 'SELECT pg_current_snapshot()::text AS seen';

/**
 * Classes of codes for temporary errors: lost connections, lacking resources (a full disk too), conflicts of transactions, locks that
 * others hold, statements that were ended, a server that starts or stops. Source: PostgreSQL, "Error Codes".
 */
const PASSING = /^(?:08|25P03|53|40|55P03|57)/;

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

const READS = /^\s*SELECT\b/;

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
