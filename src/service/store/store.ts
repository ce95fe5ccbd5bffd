/** The store of the service, as all parts use it. Its drivers are one for each kind of database. */
import { Failure } from '../../base/failure.ts';
import { isDiskFull, sqliteCode } from '../../base/system-error.ts';
import type { RandomBytes } from '../random.ts';

export type SqlValue = string | number | null | Uint8Array;

/**
 * Runs statements that SQLite and PostgreSQL both understand: `?` for parameters in order or `?1` by number, a target for
 * each `ON CONFLICT`, and `"quotes"` around names with capitals.
 */
export interface Statements {
  /** Returns the first row, or undefined. `Row` names the columns that the statement selects. */
  get<Row>(sql: string, ...values: SqlValue[]): Promise<Row | undefined>;
  all<Row>(sql: string, ...values: SqlValue[]): Promise<Row[]>;
  /** Runs a statement and returns the number of changed rows. */
  run(sql: string, ...values: SqlValue[]): Promise<number>;
}

/** The statements of one transaction. A function that takes it changes only what belongs together. */
export interface Transaction extends Statements {
  /** Distinguishes a transaction from a store in types. */
  readonly isTransaction: true;
}

/**
 * `usual`: one at a time, over all processes.
 * `lease`: beside others, so that each statement must be right whatever others change meanwhile. A crash of the database server may undo
 * it, so its end does not wait for the disk.
 * `long`: as usual, but no request waits for it, and its statements may take longer.
 * SQLite treats all alike.
 */
export type Manner = 'usual' | 'lease' | 'long';

export interface Store extends Statements {
  /**
   * Runs work in a transaction; rolls back if it throws. Only statements of `tx` belong to the transaction.
   *
   * `work` must await nothing but statements of `tx`: other statements of this process wait until the transaction has
   * ended, so work that awaits the store itself would wait for itself.
   * Statements that do not need each other's results go together, with `Promise.all`: PostgreSQL then answers them in one round trip.
   */
  transaction<Result>(work: (tx: Transaction) => Promise<Result>, manner?: Manner): Promise<Result>;
  /** Closes the store after the statements and transactions that were requested before. */
  close(): Promise<void>;
}

/** SQLITE_BUSY and SQLITE_LOCKED: another process writes. */
const BUSY_CODES: readonly (number | null)[] = [5, 6];

/** The database cannot be reached, or ended a statement for a temporary reason; `cause` is its own error. */
export class DatabaseAway extends Failure {}

/** Returns true for a temporary error of the store, so that the caller should retry later. */
export function isPassingStoreError(error: unknown): boolean {
  if (error instanceof DatabaseAway) return true;
  return BUSY_CODES.includes(sqliteCode(error)) || (sqliteCode(error) !== null && isDiskFull(error));
}

/** 256 bits, the full key size of HMAC-SHA256 and AES-256. */
export const SECRET_BYTES = 32;

type SecretName = 'cursors' | 'links';

/** Returns the secret of that name. The first caller creates it. */
export async function ensureSecret(
  store: Statements,
  name: SecretName,
  randomBytes: RandomBytes,
): Promise<Buffer> {
  const read = () => store.get<{ value: Uint8Array }>('SELECT value FROM secrets WHERE name = ?', name);
  let row = await read();
  if (row === undefined) {
    // If two processes start together, the second uses the secret of the first.
    await store.run(
      'INSERT INTO secrets VALUES (?, ?) ON CONFLICT DO NOTHING',
      name,
      randomBytes(SECRET_BYTES),
    );
    row = await read();
  }
  if (row === undefined) throw new Error(`the secret "${name}" could not be stored`);
  return Buffer.from(row.value);
}
