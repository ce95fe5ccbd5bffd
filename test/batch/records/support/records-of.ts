/** What a batch says after some records, as its database has them. */
import { DatabaseSync } from 'node:sqlite';
import {
  applyRecord,
  BATCH_SCHEMA,
  type BatchRecord,
  type ReadRecords,
  viewContent,
} from '../../../../src/batch/records/batch-records.ts';
import { createDatabase } from '../../../../src/batch/records/database.ts';

interface Around {
  /** Of the results, absolute. */
  readonly folder?: string;
  /** Where the folder is now. */
  readonly readIn?: string;
  readonly damage?: readonly string[];
}

export function recordsOf(
  records: readonly BatchRecord[],
  { folder = '/media/out', readIn = folder, damage = [] }: Around = {},
): ReadRecords {
  const connection = new DatabaseSync(':memory:');
  connection.exec(BATCH_SCHEMA.sql);
  const database = createDatabase('records.db', connection);
  for (const record of records) applyRecord(database, folder, record);
  const tables = [...BATCH_SCHEMA.sql.matchAll(/CREATE TABLE (\w+)/g)].map(([, table = '']) => table);
  const rows = new Map(tables.map((table) => [table, database.find(table)]));
  connection.close();
  return viewContent({ rows, damage }, readIn);
}
