/**
 * The store in a PostgreSQL database that several nodes share. Transactions take one lock of the database, so that rules over
 * many rows (the balance, the slots, the quota of a month) hold on all nodes as they do with SQLite's single writer.
 */
import pg from 'pg';
import type { Failure } from '../../base/failure.ts';
import {
  COLUMN_TYPES,
  type Limited,
  LOCKS,
  LONG_PATIENCE,
  openConnections,
  type Patience,
  type PostgresAddress,
  REQUEST_PATIENCE,
  runStatement,
  runStatements,
} from './postgres-connections.ts';
import {
  DatabaseAway,
  type Manner,
  type SqlValue,
  type Statements,
  type Store,
  type Transaction,
} from './store.ts';

/** The end of a transaction that has failed. If there is no answer, the connection is closed. */
const ROLLBACK = { text: 'ROLLBACK', query_timeout: 2000 };

export interface PostgresStore extends Store {
  /** Runs statements without parameters, separated by semicolons. */
  script(tx: Transaction, sql: string): Promise<void>;
  /** Opens two connections at a time. @throws Failure behind a pooler whose clients share a session */
  refuseSharedSessions(): Promise<void>;
  /** From now on, refuses every statement once a newer program has made the tables unusable for those that know `version`. */
  refuseIfNewer(version: number, failure: Failure): void;
}

/** @param alone as for `openConnections` */
export function openPostgresStore(address: PostgresAddress, alone?: () => Failure): PostgresStore {
  const connections = openConnections(address, alone);
  const { patience, temporary, take, distrust } = connections;

  /** Runs one statement on a connection of its own, again if the tables were migrated since it was prepared. */
  const runAlone = async <Row extends pg.QueryResultRow>(
    statement: Omit<Limited, 'query_timeout'>,
  ): Promise<pg.QueryResult<Row>> => {
    for (let tries = 0; ; tries += 1) {
      const client = await take();
      try {
        const result = await runStatement<Row>(client, { ...statement, query_timeout: patience.client });
        client.release();
        return result;
      } catch (error) {
        client.release(true);
        distrust(error);
        if (tries > 0 || !(error instanceof pg.DatabaseError && error.code === CHANGED_TABLE)) {
          return temporary(Promise.reject(error));
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
  const lock = `SELECT pg_advisory_xact_lock(${LOCKS}, hashtext('${address.schema}'))`;
  /** Takes the lock of a transaction that has begun. */
  const takeLock = async (client: pg.PoolClient) => {
    const asked = {
      text: `${lock}; ${connections.versionQuery()}`,
      types: COLUMN_TYPES,
      query_timeout: REQUEST_PATIENCE.client,
    };
    const results = await temporary(runStatements<{ oldest: number }>(client, asked));
    // Nobody migrates the tables while the lock is held.
    connections.refuseVersion(results.at(-1)?.rows[0]?.oldest);
  };

  /** @param client null for a connection of its own for each statement. @param isOpen false once it belongs to others */
  const statementsOn = (client: pg.PoolClient | null, limits: Patience, isOpen = () => true): Statements => {
    const query = async (sql: string, values: readonly SqlValue[]) => {
      if (!isOpen()) throw new Error('a statement came after its transaction had ended');
      const { name, text } = translate(sql);
      const statement = { name, text, values: [...values], types: COLUMN_TYPES };
      return client === null
        ? runAlone(statement)
        : temporary(runStatement(client, { ...statement, query_timeout: limits.client }));
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
        await temporary(runStatement(client, { text: BEGIN[manner], query_timeout: limits.client }));
        const tx: Transaction = { ...statementsOn(client, limits, () => isOpen), isTransaction: true };
        clients.set(tx, client);
        // The lock and the first statements go together. If the lock is refused, so are they.
        const locking = manner === 'lease' ? undefined : takeLock(client);
        const [locked, worked] = await Promise.allSettled([locking, work(tx)]);
        if (locked.status === 'rejected') throw locked.reason;
        if (worked.status === 'rejected') throw worked.reason;
        const result = worked.value;
        isOpen = false;
        const { command } = await temporary(
          runStatement(client, { text: 'COMMIT', query_timeout: limits.client }),
        );
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
        if (isOutdated(error)) broken = true;
        throw error;
      } finally {
        client.release(broken);
      }
    },
    async script(tx, sql) {
      await temporary(clients.get(tx)?.query(sql) ?? Promise.reject(new Error('the transaction has ended')));
    },
    async refuseSharedSessions() {
      const first = await take();
      try {
        (await take()).release();
      } finally {
        first.release();
      }
    },
    refuseIfNewer: connections.refuseIfNewer,
    close: connections.close,
  };
}

/** The tables were migrated after a connection had prepared the statement ("cached plan must not change result type"). */
const CHANGED_TABLE = '0A000';

/** After a failover, a connection may still lead to the server that was the primary. */
const READ_ONLY = '25006';

/** Whether the next transaction needs another connection: this one has prepared statements for other tables, or cannot write. */
function isOutdated(error: unknown): boolean {
  const cause = error instanceof DatabaseAway ? error.cause : error;
  return cause instanceof pg.DatabaseError && [CHANGED_TABLE, READ_ONLY].includes(cause.code ?? '');
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
