/** What the history of an account costs: requests beside a million bills of the month, and creates while expired jobs are removed. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { monthOf } from '../src/service/credits/account.ts';
import { storePath } from '../src/service/folders.ts';
import { freshAccount, startPostgres } from '../test/support/postgres.ts';
import { ANY_TIME_MS, type Figure } from './figure.ts';
import { median } from './measure.ts';
import { openConnections } from './service/connections.ts';
import { signedBytes, type Unsigned } from './service/sign.ts';
import { type RunningService, startService } from './service/start.ts';

const FULL = { bills: 1_000_000, expired: 500_000, rounds: 15, requests: 40 };
const SHORT: Size = { bills: 1000, expired: 2000, rounds: 1, requests: 5 };
type Size = typeof FULL;
/** Rounds until the JIT has compiled the services and the database has planned the statements. */
const WARM_UP = 3;

const LINES = { type: 'lines', lines: [{ index: 1, start_ms: 0, end_ms: 900, text: 'Good morning.' }] };
const CREATE: Unsigned = {
  method: 'POST',
  path: '/v1/subtitle-translations',
  body: { subtitle: LINES, source_language: 'en', target_language: 'es' },
};
const CREDITS: Unsigned = { method: 'GET', path: '/v1/credits' };
const REQUESTS = { 'a created job': CREATE, 'GET /credits': CREDITS } as const;

const DAY_MS = 24 * 60 * 60_000;

/** An account with a database to write to. */
interface Account {
  readonly service: () => Promise<RunningService>;
  run(sql: string): Promise<unknown>;
  count(sql: string): Promise<number>;
  end(): Promise<void>;
}

export async function measureHistory(isShort: boolean): Promise<readonly Figure[]> {
  const size = isShort ? SHORT : FULL;
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  const server = startPostgres({ isDurable: true });
  const inFile = (name: string) => openFileAccount(join(folder, name));
  const inDatabase = (name: string) => openDatabaseAccount(join(folder, name), freshAccount(server));
  try {
    return [
      ...(await measureOn('SQLite', { empty: await inFile('a'), full: await inFile('b') }, size)),
      ...(await measureOn('PostgreSQL', { empty: await inDatabase('c'), full: await inDatabase('d') }, size)),
    ];
  } finally {
    server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureOn(
  kind: string,
  { empty, full }: { empty: Account; full: Account },
  size: Size,
): Promise<Figure[]> {
  const services = [await empty.service(), await full.service()] as const;
  await addBills(full, size.bills);
  const ratios: number[][] = Object.keys(REQUESTS).map(() => []);
  for (let round = 0; round < WARM_UP + size.rounds; round += 1)
    for (const [at, request] of Object.values(REQUESTS).entries()) {
      const without = await timeOf(services[0], request, size.requests);
      const beside = await timeOf(services[1], request, size.requests);
      if (round >= WARM_UP) ratios[at]?.push(beside / without);
    }
  await Promise.all(services.map((service) => service.stop()));
  await addExpiredJobs(full, size.expired);
  const service = await full.service();
  const longest = await longestUntil(service, async () => (await full.count(EXPIRED)) === 0);
  await service.stop();
  await Promise.all([empty.end(), full.end()]);
  return [
    ...Object.keys(REQUESTS).map((name, at): Figure => {
      const value = median(ratios[at] ?? []);
      const shown = `${name} with ${kind}, a million bills ÷ none`;
      return { name: shown, value, unit: '×', limit: { atMost: 1.2 }, plausible: [0.01, 1000] };
    }),
    {
      name: `longest wait for a created job with ${kind} while 500,000 expired jobs are removed`,
      value: longest,
      unit: 'ms',
      limit: { atMost: 100 },
      plausible: ANY_TIME_MS,
    },
  ];
}

/** Mean time of a request in ms, one after another. */
async function timeOf({ port, target }: RunningService, request: Unsigned, count: number): Promise<number> {
  const connections = await openConnections(port, 1);
  const { replies } = await connections.send(
    Array.from({ length: count }, () => signedBytes(target, request)),
  );
  connections.close();
  const wrong = replies.find(({ status }) => status !== 200 && status !== 202);
  if (wrong !== undefined) throw new Error(`a request was refused:\n${wrong.head}\n\n${wrong.body}`);
  return replies.reduce((sum, { ms }) => sum + ms, 0) / count;
}

/** Creates a job every few milliseconds. Returns the longest time for one, in ms. */
async function longestUntil(service: RunningService, isOver: () => Promise<boolean>): Promise<number> {
  let longest = 0;
  while (!(await isOver())) {
    for (let at = 0; at < 20; at += 1) {
      longest = Math.max(longest, await timeOf(service, CREATE, 1));
      await sleep(5);
    }
  }
  return longest;
}

const numbers = (count: number) =>
  `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`;

async function addBills(account: Account, count: number): Promise<void> {
  const month = monthOf(Date.now()).name;
  await account.run(
    `INSERT INTO bills (job_id, key_id, month, status, unit, quantity, price, reserved, charged)
     ${numbers(count)}
     SELECT 'old' || n, (SELECT min(id) FROM keys), '${month}', 'settled', 'line', 1, 1, 1, 1 FROM numbers`,
  );
  await account.run(
    `INSERT INTO monthly_use (key_id, month, used) SELECT min(id), '${month}', ${count} FROM keys WHERE true
     ON CONFLICT (key_id, month) DO UPDATE SET used = monthly_use.used + excluded.used`,
  );
  await account.run('ANALYZE');
}

const EXPIRED = `SELECT count(*) AS count FROM jobs WHERE id LIKE 'old%'`;

function addExpiredJobs(account: Account, count: number): Promise<unknown> {
  const created = Date.now() - 8 * DAY_MS;
  return account.run(
    `INSERT INTO jobs (id, key_id, kind, status, created_at, updated_at, input, request)
     ${numbers(count)}
     SELECT 'old' || n, (SELECT min(id) FROM keys), 'dubbing', 'succeeded', ${created} + n % 1000, 0, '{}', '{}' FROM numbers`,
  );
}

async function openFileAccount(stateDir: string): Promise<Account> {
  const open = () => new DatabaseSync(storePath(stateDir), { timeout: 5000 });
  const using = <Result>(work: (file: DatabaseSync) => Result) => {
    const file = open();
    try {
      return work(file);
    } finally {
      file.close();
    }
  };
  return {
    service: () => startService(stateDir),
    run: async (sql) => using((file) => file.exec(sql)),
    count: async (sql) => using((file) => Number(file.prepare(sql).get()?.count)),
    end: async () => {},
  };
}

async function openDatabaseAccount(stateDir: string, database: string): Promise<Account> {
  const schema = new URL(database).searchParams.get('schema');
  const client = new pg.Client({ connectionString: database.replace(/&schema=\w+/, '') });
  await client.connect();
  const run = (sql: string) => client.query<{ count: string }>(`SET search_path = ${schema};${sql}`);
  return {
    service: () => startService(stateDir, { database }),
    run,
    async count(sql) {
      // Of two statements, pg returns two results, which its types do not say.
      const results = (await run(sql)) as unknown as pg.QueryResult<{ count: string }>[];
      return Number(results[1]?.rows[0]?.count);
    },
    end: () => client.end(),
  };
}
