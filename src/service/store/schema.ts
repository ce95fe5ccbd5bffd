/** The tables, as migrations that each run once. Times are ms since 1970, credits are whole thousandths. */
import { ENDED_STATUSES, OPEN_STATUSES } from '../job-statuses.ts';
import type { SqliteFile } from './sqlite-file.ts';

const FIRST = `
CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  secret TEXT NOT NULL,
  webhook_secret TEXT NOT NULL,
  permissions TEXT NOT NULL,
  monthly_limit INTEGER,
  allowed_addresses TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
  key_id TEXT NOT NULL REFERENCES keys (id),
  idempotency_key TEXT NOT NULL,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  body_sha256 TEXT NOT NULL,
  status INTEGER NOT NULL,
  resource_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (key_id, idempotency_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);

CREATE TABLE uploads (
  id TEXT PRIMARY KEY,
  key_id TEXT NOT NULL REFERENCES keys (id),
  status TEXT NOT NULL,
  purpose TEXT NOT NULL,
  file_name TEXT NOT NULL,
  content_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  client_reference TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  file TEXT,
  etag TEXT,
  sha256 TEXT,
  media TEXT,
  subtitle TEXT,
  error TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  run_after INTEGER NOT NULL DEFAULT 0,
  lease_owner TEXT,
  lease_until INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX uploads_by_key ON uploads (key_id, created_at, id);
CREATE INDEX uploads_expiring ON uploads (expires_at) WHERE status IN ('waiting_for_upload', 'ready');
CREATE INDEX uploads_open ON uploads (created_at) WHERE status = 'validating';
CREATE UNIQUE INDEX uploads_by_file ON uploads (file) WHERE file IS NOT NULL;

CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  key_id TEXT NOT NULL REFERENCES keys (id),
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  progress INTEGER NOT NULL DEFAULT 0,
  stage TEXT,
  client_reference TEXT,
  callback_url TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  links_expire_at INTEGER,
  folder TEXT,
  error_code TEXT,
  error_message TEXT,
  upload_id TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  run_after INTEGER NOT NULL DEFAULT 0,
  lease_owner TEXT,
  lease_until INTEGER,
  input TEXT NOT NULL,
  request TEXT NOT NULL,
  result TEXT
) STRICT;
CREATE INDEX jobs_by_key ON jobs (key_id, kind, created_at, id);
CREATE INDEX jobs_open ON jobs (created_at) WHERE status IN ${OPEN_STATUSES};
CREATE INDEX jobs_by_age ON jobs (created_at);
CREATE INDEX jobs_with_links ON jobs (links_expire_at) WHERE folder IS NOT NULL;

CREATE TABLE bills (
  job_id TEXT PRIMARY KEY,
  key_id TEXT NOT NULL REFERENCES keys (id),
  month TEXT NOT NULL,
  status TEXT NOT NULL,
  unit TEXT NOT NULL,
  quantity INTEGER NOT NULL,
  price INTEGER NOT NULL,
  reserved INTEGER NOT NULL,
  charged INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX bills_by_month ON bills (key_id, month);
CREATE INDEX bills_open ON bills (status, reserved) WHERE status = 'reserved';

CREATE TABLE grants (
  id TEXT PRIMARY KEY,
  remaining INTEGER NOT NULL CHECK (remaining >= 0),
  expires_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE ledger (
  id TEXT PRIMARY KEY,
  amount INTEGER NOT NULL,
  posted_at INTEGER NOT NULL,
  key_id TEXT,
  job_id TEXT UNIQUE,
  kind TEXT,
  client_reference TEXT,
  unit TEXT,
  quantity INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_by_key ON ledger (key_id, posted_at, id);
`;

/** Events of jobs with a callback URL. They are deleted with their job. */
const DELIVERIES = `
CREATE TABLE deliveries (
  id TEXT PRIMARY KEY,
  job_id TEXT NOT NULL UNIQUE REFERENCES jobs (id) ON DELETE CASCADE,
  key_id TEXT NOT NULL REFERENCES keys (id),
  status TEXT NOT NULL DEFAULT 'pending',
  url TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  run_after INTEGER NOT NULL,
  lease_owner TEXT,
  lease_until INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_pending ON deliveries (run_after) WHERE status = 'pending';
`;

/** How often a process died while it worked on a row, and when tasks of the whole service were last done. */
const CRASHES_AND_TASKS = `
ALTER TABLE jobs ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE uploads ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE deliveries ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
CREATE TABLE tasks (name TEXT PRIMARY KEY, begun_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
`;

/** When a job that has started must have ended. Moves on while no process works on the job. */
const DEADLINES = 'ALTER TABLE jobs ADD COLUMN deadline_at INTEGER;';

/**
 * `turns`: when each key last had work started, so that keys take turns. `needs`: what a job needs of the engines. `nodes`:
 * the processes of a service with a database, what their engines can do, and when they were last alive.
 */
const NODES = `
CREATE TABLE turns (
  queue TEXT NOT NULL,
  key_id TEXT NOT NULL,
  taken_at INTEGER NOT NULL,
  PRIMARY KEY (queue, key_id)
) STRICT, WITHOUT ROWID;
ALTER TABLE jobs ADD COLUMN needs TEXT;
CREATE TABLE nodes (
  id TEXT PRIMARY KEY,
  role TEXT NOT NULL,
  version TEXT NOT NULL,
  host TEXT NOT NULL,
  capabilities TEXT,
  running INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  stopped_at INTEGER
) STRICT, WITHOUT ROWID;
`;

/**
 * For claims: the leased rows, and the first waiting row of each key. Jobs are told by the statuses of those that have ended, so that
 * PostgreSQL cannot choose `jobs_open` for a claim and sort, which it does while its statistics are from a time when few jobs waited. No
 * index has `lease_until`, because PostgreSQL changes a row in place only if no indexed column changes.
 */
const QUEUES = `
CREATE INDEX jobs_waiting ON jobs (key_id, created_at)
  WHERE status NOT IN ${ENDED_STATUSES} AND lease_owner IS NULL;
CREATE INDEX jobs_leased ON jobs (key_id)
  WHERE status NOT IN ${ENDED_STATUSES} AND lease_owner IS NOT NULL;
DROP INDEX uploads_open;
CREATE INDEX uploads_waiting ON uploads (key_id, created_at) WHERE status = 'validating' AND lease_owner IS NULL;
CREATE INDEX uploads_leased ON uploads (key_id) WHERE status = 'validating' AND lease_owner IS NOT NULL;
DROP INDEX deliveries_pending;
CREATE INDEX deliveries_waiting ON deliveries (key_id, run_after) WHERE status = 'pending' AND lease_owner IS NULL;
CREATE INDEX deliveries_leased ON deliveries (key_id) WHERE status = 'pending' AND lease_owner IS NOT NULL;
`;

/** The sum of a month does not have to read its bills. A settled bill counts with its charge, a released one not at all. */
const MONTHLY_USE = `
CREATE TABLE monthly_use (
  key_id TEXT NOT NULL,
  month TEXT NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (key_id, month)
) STRICT;
INSERT INTO monthly_use (key_id, month, used)
  SELECT key_id, month, sum(CASE status WHEN 'settled' THEN charged WHEN 'released' THEN 0 ELSE reserved END)
  FROM bills GROUP BY key_id, month;
DROP INDEX bills_by_month;
-- Without open jobs, because a search for waiting jobs would read it from its oldest row on.
DROP INDEX jobs_by_age;
CREATE INDEX jobs_ended ON jobs (created_at) WHERE status IN ${ENDED_STATUSES};
CREATE INDEX uploads_by_age ON uploads (created_at);
`;

/** Each step for SQLite. `forPostgres` says it for the other database. */
export const MIGRATIONS: readonly string[] = [
  FIRST,
  DELIVERIES,
  CRASHES_AND_TASKS,
  DEADLINES,
  NODES,
  QUEUES,
  MONTHLY_USE,
];

/**
 * The oldest version whose programs can use the tables as they are now. Nodes of two versions run over one PostgreSQL database during
 * an upgrade, so a migration expands: it adds tables, indexes, and columns that may be NULL or have a default, and leaves what the
 * release before reads and writes. What removes, renames or restricts comes a release later, when no program needs the old form,
 * and sets this to the version that no longer does.
 */
const OLDEST_PROGRAM = 7;

/** The version that this program writes. A store with a higher version comes from a newer program. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** The tables as a program knows them. */
export interface Schema {
  readonly migrations: readonly string[];
  readonly oldestProgram: number;
}

export const SCHEMA: Schema = { migrations: MIGRATIONS, oldestProgram: OLDEST_PROGRAM };

/** Reports to the operator that tables were migrated. They are copied before, so that an upgrade can be undone. */
export type OnUpgrade = (message: string) => void;

/** @param copy name of the copy */
export const describeUpgrade = (copy: string) =>
  `the account was upgraded for this version of vloc; ${copy} has its state from before`;

/** Returns the tables of a store of that version. For a newer version, returns those known here. */
export function tablesOf(version: number): string[] {
  const steps = MIGRATIONS.slice(0, version).join('');
  return [...steps.matchAll(/^CREATE TABLE (\w+)/gm)].flatMap(([, name]) => name ?? []);
}

/**
 * Migrates the tables to the newest version.
 * @param before called for tables that have an older version, while no other process can write
 */
export function migrateSchema(file: SqliteFile, before: () => void = () => {}): void {
  const read = () => file.get<{ user_version: number }>('PRAGMA user_version')?.user_version ?? 0;
  if (read() >= SCHEMA_VERSION) return;
  file.transaction(() => {
    const version = read();
    // Another process may have migrated in the meantime.
    if (version >= SCHEMA_VERSION) return;
    if (version > 0) before();
    for (const step of MIGRATIONS.slice(version)) file.script(step);
    file.script(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  });
}

/**
 * Leases are renewed every 1.5 s. Half of each page stays free for the new versions of its rows, so that no index changes: with 2,336
 * leases, a claim took 4.7 times as long without it (`npm run bench claims`).
 */
export const POSTGRES_STORAGE = 'ALTER TABLE jobs SET (fillfactor = 50)';

/**
 * Returns a step for PostgreSQL. Text compares by bytes, as in SQLite: ids sort by time, and lists page by them.
 */
export function forPostgres(step: string): string {
  return step
    .replaceAll(/\bINTEGER\b/g, 'BIGINT')
    .replaceAll(/\bBLOB\b/g, 'BYTEA')
    .replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"')
    .replaceAll(/\) STRICT(?:, WITHOUT ROWID)?;/g, ');');
}
