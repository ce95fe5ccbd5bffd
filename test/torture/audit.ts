/** What must hold at every moment, whatever was killed: read from the store and the folders while nothing runs, or while it does. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DEFAULT_CONFIG } from '../../src/service/config.ts';
import { CREDIT_RULES } from '../../src/service/credits/audit.ts';
import type { World } from './world.ts';

/** Rules about the store alone; each finds the rows that break it. */
const RULES: Readonly<Record<string, string>> = {
  'an open job holds no reservation': `
    SELECT jobs.id FROM jobs LEFT JOIN bills ON bills.job_id = jobs.id
    WHERE jobs.status IN ('queued', 'processing') AND bills.status IS NOT 'reserved'`,
  'a reservation outlives its job': `
    SELECT bills.job_id FROM bills LEFT JOIN jobs ON jobs.id = bills.job_id
    WHERE bills.status = 'reserved' AND coalesce(jobs.status, '') NOT IN ('queued', 'processing')`,
  'a job was charged twice': `
    SELECT job_id FROM ledger WHERE job_id IS NOT NULL GROUP BY job_id HAVING count(*) > 1`,
  'a job that did not succeed was charged': `
    SELECT ledger.job_id FROM ledger LEFT JOIN jobs ON jobs.id = ledger.job_id
    WHERE ledger.job_id IS NOT NULL AND jobs.status IS NOT 'succeeded'`,
  'a job succeeded without its charge': `
    SELECT jobs.id FROM jobs LEFT JOIN ledger ON ledger.job_id = jobs.id
    WHERE jobs.status = 'succeeded' AND ledger.id IS NULL`,
  ...CREDIT_RULES,
  'one key made two jobs': `
    SELECT client_reference FROM jobs WHERE client_reference IS NOT NULL GROUP BY client_reference HAVING count(*) > 1`,
  'an end has no event': `
    SELECT jobs.id FROM jobs LEFT JOIN deliveries ON deliveries.job_id = jobs.id
    WHERE callback_url IS NOT NULL AND jobs.status IN ('succeeded', 'failed', 'cancelled')
      AND deliveries.id IS NULL`,
  'an event has no end': `
    SELECT jobs.id FROM jobs JOIN deliveries ON deliveries.job_id = jobs.id
    WHERE jobs.status IN ('queued', 'processing')`,
};

interface JobRow {
  readonly id: string;
  readonly status: string;
  readonly folder: string | null;
  readonly result: string | null;
}

/** Opens the store beside whatever else has it open. */
export function openDatabase({ stateDir }: Pick<World, 'stateDir'>): DatabaseSync {
  return new DatabaseSync(join(stateDir, 'service.sqlite'), { timeout: 5000 });
}

/** Adds to the book what is broken. */
export function audit(world: World): void {
  const { book, stateDir } = world;
  // The process was killed before it had made anything.
  if (!existsSync(join(stateDir, 'service.sqlite'))) return;
  const database = openDatabase(world);
  try {
    const version = database.prepare('PRAGMA user_version').get()?.user_version;
    if (version === 0) return;
    for (const [rule, sql] of Object.entries(RULES)) {
      const rows = database.prepare(sql).all();
      if (rows.length > 0)
        book.violations.push(`${rule}: ${JSON.stringify(rows[0])} and ${rows.length - 1} more`);
    }
    auditBalance(world, database);
    auditAccepted(world, database);
    auditUploads(world, database);
  } finally {
    database.close();
  }
}

function auditBalance({ book }: World, database: DatabaseSync): void {
  const sums = database
    .prepare(
      `SELECT (SELECT sum(remaining) FROM grants) AS balance, (SELECT sum(amount) FROM ledger) AS ledger,
         (SELECT coalesce(sum(charged), 0) FROM bills) AS charged`,
    )
    .get();
  if (sums?.balance === null) return;
  const expected = DEFAULT_CONFIG.openingCredits * 1000 - Number(sums?.charged);
  if (sums?.balance !== sums?.ledger || sums?.balance !== expected) {
    book.violations.push(
      `the balance is not the sum of the ledger: ${JSON.stringify(sums)}, not ${expected}`,
    );
  }
}

function auditAccepted({ book, stateDir }: World, database: DatabaseSync): void {
  const rows = database.prepare('SELECT id, status, folder, result FROM jobs').all() as unknown as JobRow[]; // as selected
  const found = new Map(rows.map((row) => [row.id, row]));
  for (const job of book.accepted.values()) {
    const status = found.get(job.id)?.status;
    if (status === undefined) book.violations.push(`${job.id} was accepted and is lost`);
    else if (job.cancelled && status !== 'cancelled')
      book.violations.push(`${job.id} was cancelled and is ${status}`);
    else if (job.seen !== null && job.seen !== status) {
      book.violations.push(`${job.id} was seen ${job.seen} and is ${status}`);
    }
  }
  for (const row of rows) if (row.status === 'succeeded') auditResult(book.violations, stateDir, row);
}

/** Results whose bytes were found right once; afterwards their size tells enough. */
const hashed = new Set<string>();

function auditResult(violations: string[], stateDir: string, { id, folder, result }: JobRow): void {
  const { assets } = JSON.parse(result ?? '{"assets":{}}');
  for (const [name, facts] of Object.entries<{ size_bytes: number; sha256: string }>(assets)) {
    const path = join(stateDir, 'assets', folder ?? '', name);
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (size !== facts.size_bytes) violations.push(`${id} succeeded, and its ${name} has ${size} bytes`);
    else if (!hashed.has(path)) {
      const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
      if (digest !== facts.sha256) violations.push(`${id} succeeded, and its ${name} has other bytes`);
      hashed.add(path);
    }
  }
}

function auditUploads({ book, stateDir }: World, database: DatabaseSync): void {
  const rows = database.prepare(`SELECT id, file, size_bytes FROM uploads WHERE status = 'ready'`).all();
  for (const { id, file, size_bytes } of rows) {
    const size = statSync(join(stateDir, 'uploads', String(file)), { throwIfNoEntry: false })?.size;
    if (size !== size_bytes) book.violations.push(`${id} is ready and has ${size} of ${size_bytes} bytes`);
  }
  const ready = new Set(rows.map(({ id }) => id));
  for (const id of [...book.uploads.source, ...book.uploads.subtitle]) {
    if (!ready.has(id)) book.violations.push(`the upload ${id} was ready and is lost`);
  }
}
