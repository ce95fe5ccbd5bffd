/** The rows of an account: which tables it has, and copies from one database to another that are compared afterwards. */
import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { MIGRATIONS } from '../store/schema.ts';
import type { SqlValue, Statements } from '../store/store.ts';

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns of the primary key, in order. */
  readonly key: readonly string[];
}

/** Nonces are not in the file of an account, but in its PostgreSQL database. */
export const NONCES: Table = {
  name: 'nonces',
  columns: ['key_id', 'nonce', 'expires_at'],
  key: ['key_id', 'nonce'],
};

/** The tables of this version, parents before the tables that refer to them. */
export function accountTables(): Table[] {
  const database = new DatabaseSync(':memory:');
  try {
    for (const step of MIGRATIONS) database.exec(step);
    const tables = database
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid`)
      .all();
    return tables.map(({ name }) => {
      const columns = database.prepare(`PRAGMA table_info(${name})`).all();
      const keyed = columns
        .filter(({ pk }) => Number(pk) > 0)
        .sort((one, other) => Number(one.pk) - Number(other.pk));
      return {
        name: String(name),
        columns: columns.map((column) => String(column.name)),
        key: keyed.map((column) => String(column.name)),
      };
    });
  } finally {
    database.close();
  }
}

/** Rows of one statement. A row has up to 30 values; SQLite takes 32,766 in a statement, PostgreSQL 65,535. */
const PAGE = 200;

export type Row = Readonly<Record<string, SqlValue>>;

/** Reads a table in the order of its key, which is the same in both databases. */
async function* pagesOf(from: Statements, table: Table): AsyncGenerator<SqlValue[][]> {
  const { name, columns, key } = table;
  const select = `SELECT ${columns.join(', ')} FROM ${name}`;
  const order = `ORDER BY ${key.join(', ')} LIMIT ${PAGE}`;
  const marks = key.map(() => '?').join(', ');
  let rows = await from.all<Row>(`${select} ${order}`);
  while (rows.length > 0) {
    yield rows.map((row) => valuesOf(table, row));
    const last = rows.at(-1);
    if (rows.length < PAGE) return;
    const after = key.map((column) => last?.[column] ?? null);
    rows = await from.all<Row>(`${select} WHERE (${key.join(', ')}) > (${marks}) ${order}`, ...after);
  }
}

const rowOf = ({ columns }: Table, values: readonly SqlValue[]): Row =>
  Object.fromEntries(columns.map((column, at) => [column, values[at] ?? null]));

const valuesOf = ({ columns }: Table, row: Row): SqlValue[] => columns.map((column) => row[column] ?? null);

/** Hashes rows so that the same content has the same hash in both databases. */
function createDigest() {
  const hash = createHash('sha256');
  const bytesAsText = (value: SqlValue) =>
    value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value;
  return {
    add: (rows: readonly SqlValue[][]) => {
      for (const row of rows) hash.update(`${JSON.stringify(row.map(bytesAsText))}\n`);
    },
    end: () => hash.digest('hex'),
  };
}

/**
 * Copies the rows of a table.
 * @param change returns a row as it is written
 * @returns a hash of what was written
 */
export async function copyTable(
  from: Statements,
  to: Statements,
  table: Table,
  change: (row: Row) => Row = (row) => row,
): Promise<string> {
  const digest = createDigest();
  const values = `(${table.columns.map(() => '?').join(', ')})`;
  for await (const read of pagesOf(from, table)) {
    const rows = read.map((values) => valuesOf(table, change(rowOf(table, values))));
    digest.add(rows);
    const all = rows.map(() => values).join(', ');
    await to.run(
      `INSERT INTO ${table.name} (${table.columns.join(', ')}) VALUES ${all} ON CONFLICT DO NOTHING`,
      ...rows.flat(),
    );
  }
  return digest.end();
}

/** Returns the hash that `copyTable` returns for the same rows. */
export async function digestTable(from: Statements, table: Table): Promise<string> {
  const digest = createDigest();
  for await (const rows of pagesOf(from, table)) digest.add(rows);
  return digest.end();
}

/** Numbers of rows, and sums in thousandths of a credit. */
export interface Totals {
  readonly keys: number;
  readonly jobs: number;
  readonly uploads: number;
  readonly ledger_entries: number;
  /** Sum of the ledger. */
  readonly ledger: number;
  /** Sum of what is left of the grants. */
  readonly remaining: number;
  /** Sum of what open jobs have reserved. */
  readonly reserved: number;
}

export async function readTotals(statements: Statements): Promise<Totals> {
  const totals = await statements.get<Totals>(
    `SELECT (SELECT count(*) FROM keys) AS keys, (SELECT count(*) FROM jobs) AS jobs,
       (SELECT count(*) FROM uploads) AS uploads, (SELECT count(*) FROM ledger) AS ledger_entries,
       (SELECT coalesce(sum(amount), 0) FROM ledger) AS ledger,
       (SELECT coalesce(sum(remaining), 0) FROM grants) AS remaining,
       (SELECT coalesce(sum(reserved), 0) FROM bills WHERE status = 'reserved') AS reserved`,
  );
  if (totals === undefined) throw new Error('the totals have no row');
  return totals;
}
