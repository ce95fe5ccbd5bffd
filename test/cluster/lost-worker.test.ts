/** Workers in processes of their own that are frozen, cut off from the database, or have a wrong clock. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { RENEW_MS } from '../../src/service/running/leases.ts';
import { NEW_JOB, type Scene, until, untilJob } from '../service/harness/scene.ts';
import { afterDeath } from '../support/after-death.ts';
import { NO_POSTGRES, useOwnPostgres } from '../support/use-postgres.ts';
import { type Fleet, openFleet, translation } from './fleet.ts';

const HOST = fileURLToPath(new URL('./worker-host.ts', import.meta.url));

/** A network of two addresses, for tests (RFC 2544); several runs on one machine have different ones. */
const NETWORK = `198.18.${process.pid % 250}`;
const NAMES = { space: `vloc-${process.pid}`, here: `vl${process.pid}a`, there: `vl${process.pid}b` };

/** A network namespace whose only connection is a cable to this machine; false if this user may not make one. */
function makeNetwork(): boolean {
  const { space, here, there } = NAMES;
  try {
    ip('netns', 'add', space);
    ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there);
    ip('link', 'set', there, 'netns', space);
    ip('addr', 'add', `${NETWORK}.1/30`, 'dev', here);
    ip('link', 'set', here, 'up');
    ip('-n', space, 'addr', 'add', `${NETWORK}.2/30`, 'dev', there);
    ip('-n', space, 'link', 'set', there, 'up');
    return true;
  } catch {
    removeNetwork();
    return false;
  }
}

function ip(...words: string[]): void {
  execFileSync('ip', words, { stdio: 'ignore' });
}

function removeNetwork(): void {
  for (const words of [
    ['link', 'del', NAMES.here],
    ['netns', 'del', NAMES.space],
  ]) {
    try {
      ip(...words);
    } catch {
      // It was not made.
    }
  }
}

const hasNetwork = !NO_POSTGRES && makeNetwork();
const AWAY = hasNetwork ? 'frozen, and cut off' : 'frozen; to be cut off needs root, for a network namespace';
const stopWatching = hasNetwork
  ? afterDeath('ip link del "$1"; ip netns del "$2"', [NAMES.here, NAMES.space])
  : () => {};

const server = useOwnPostgres({ listen: hasNetwork ? `${NETWORK}.1` : '' });
afterAll(() => {
  if (hasNetwork) removeNetwork();
  stopWatching();
});

interface Host {
  readonly child: ChildProcess;
  readonly said: string[];
  tell(line: string): void;
}

/** Starts a worker in a process. @param before words in front of its command */
async function startHost(
  fleet: Fleet,
  { before = [] as string[], database = fleet.database } = {},
): Promise<Host> {
  const [program = '', ...words] = [...before, process.execPath, HOST, database, fleet.stateDir];
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  // Also a frozen one, which would not notice that nobody reads it.
  const stopWatching = afterDeath('kill -9 "$1"', [String(child.pid)]);
  onTestFinished(() => {
    child.kill('SIGKILL');
    stopWatching();
  });
  const said: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
  await until(() => said.includes('ready'));
  return { child, said, tell: (line) => child.stdin.write(`${line}\n`) };
}

const createTranslation = async ({ caller }: Scene) => (await caller.post(NEW_JOB, translation())).json;

const hasSaid = ({ said }: Host, word: string, times = 1) =>
  until(() => said.filter((each) => each === word).length >= times);

const endOf = (fleet: Fleet, { id }: { id: string }) =>
  fleet.store.get(
    `SELECT status, attempts, crashes, finished_at, (SELECT count(*) FROM ledger WHERE job_id = jobs.id) AS paid
     FROM jobs WHERE id = ?`,
    id,
  );

/** Loses the worker while it has a job; then its own end of the job comes too late, and it works on. */
async function loseForAWhile(
  fleet: Fleet,
  api: Scene,
  lost: Host,
  { away, back }: { away: () => void; back: () => void },
): Promise<void> {
  const job = await createTranslation(api);
  await hasSaid(lost, 'begun');
  away();
  const { worker, logged } = await fleet.startWorker();
  await untilJob(api.caller, job, 'succeeded');
  const ended = await endOf(fleet, job);
  expect(logged.map(({ message }) => message).join()).toContain('died or was cut off');
  await worker.close();
  lost.tell('go');
  back();
  await hasSaid(lost, 'made');
  const next = await createTranslation(api);
  await untilJob(api.caller, next, 'succeeded');
  await hasSaid(lost, 'made', 2);
  expect(await endOf(fleet, job)).toEqual(ended);
  expect(ended).toMatchObject({ status: 'succeeded', attempts: 1, crashes: 1, paid: 1 });
}

describe.skipIf(NO_POSTGRES)('a worker (needs postgresql: sh .ci/packages)', () => {
  it(`that is away for longer than its lease loses its job, which ends once, elsewhere (${AWAY})`, async () => {
    const frozen = async () => {
      const fleet = await openFleet(server);
      const api = await fleet.startApi();
      const lost = await startHost(fleet);
      await loseForAWhile(fleet, api, lost, {
        away: () => lost.child.kill('SIGSTOP'),
        back: () => lost.child.kill('SIGCONT'),
      });
    };
    const cutOff = async () => {
      const fleet = await openFleet(server);
      const api = await fleet.startApi();
      const database = new URL(fleet.database);
      database.searchParams.set('host', `${NETWORK}.1`);
      const before = ['ip', 'netns', 'exec', NAMES.space];
      const lost = await startHost(fleet, { before, database: database.href });
      await loseForAWhile(fleet, api, lost, {
        away: () => ip('link', 'set', NAMES.here, 'down'),
        back: () => ip('link', 'set', NAMES.here, 'up'),
      });
    };
    // At the same time: each waits for most of its time.
    await Promise.all([frozen(), ...(hasNetwork ? [cutOff()] : [])]);
  });

  it('whose clock jumps takes no job from others, and keeps none longer', async () => {
    const fleet = await openFleet(server);
    const api = await fleet.startApi();
    const { engines } = await fleet.startWorker(undefined, { config: { workers: 1 } });
    engines.hold();
    const held = await createTranslation(api);
    await until(() => engines.begun.length === 1);
    const wrong = await startHost(fleet);
    const owner = () =>
      fleet.store.get<{ lease_owner: string; lease_until: number }>(
        'SELECT lease_owner, lease_until FROM jobs WHERE id = ?',
        held.id,
      );
    const before = await owner();
    for (const ms of [3_600_000, -3_600_000]) {
      wrong.tell(`jump ${ms}`);
      // A job that it takes afterwards shows that it has looked for work with that clock.
      const looked = await createTranslation(api);
      wrong.tell('go');
      await untilJob(api.caller, looked, 'succeeded');
      const row = await owner();
      expect(row?.lease_owner).toBe(before?.lease_owner);
      expect(Math.abs((row?.lease_until ?? 0) - Date.now())).toBeLessThan(10 * RENEW_MS + 5000);
    }
    expect(wrong.said.filter((word) => word === 'made')).toHaveLength(2);
    engines.letGo();
    await untilJob(api.caller, held, 'succeeded');
  });
});
