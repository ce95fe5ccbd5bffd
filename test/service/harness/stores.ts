/** Stores of services, and stores without one. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { migrateSchema } from '../../../src/service/store/schema.ts';
import { openSqliteFile, type SqliteFile } from '../../../src/service/store/sqlite-file.ts';
import { createSqliteStore } from '../../../src/service/store/sqlite-store.ts';
import type { Store } from '../../../src/service/store/store.ts';
import { makeFolder } from '../../support/make-folder.ts';

/** Changes what a service has stored, while it runs or not. */
export function changeStore(stateDir: string, sql: string): void {
  const store = new DatabaseSync(join(stateDir, 'service.sqlite'), { timeout: 5000 });
  store.exec(sql);
  store.close();
}

interface OpenStore {
  readonly store: Store;
  /** The same connection, for what only SQLite has. */
  readonly file: SqliteFile;
  readonly path: string;
}

/** A store without tables, in a new folder. */
export async function openBareStore(): Promise<OpenStore> {
  const path = join(makeFolder(), 'store.sqlite');
  const file = openSqliteFile(path, { synchronous: 'NORMAL', advice: '' });
  const store = createSqliteStore(file);
  return { store, file, path };
}

/** A store with the empty tables of an account, which is closed with the test. */
export async function openEmptyAccount(): Promise<OpenStore> {
  const opened = await openBareStore();
  onTestFinished(() => opened.store.close());
  migrateSchema(opened.file);
  return opened;
}
