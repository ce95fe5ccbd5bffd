/** The cost of waiting: the built command waits for fifteen jobs for half a minute. */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Figure } from './figure.ts';
import { CLEAN_ENV } from './measure.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const JOBS = Array.from({ length: 15 }, (_, number) => `auto-localizations/loc_${number}`);
/** After it, the program is loaded and has polled every job once, which counts as start-up, not as waiting. */
const SETTLE_MS = 5_000;
const SECONDS = 30;
/** Longer than the longest pause between two polls. */
const SHORT_SECONDS = 16;
/** One list for all jobs, at most every second. */
const MOST_PER_SECOND = 1;

/**
 * Returns the CPU time of all threads of a process so far, in seconds. The scheduler counts it in nanoseconds (Linux).
 */
function cpuSecondsOf(pid: number | undefined): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const spent = threads.map((id) =>
    Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]),
  );
  return spent.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e9;
}

export async function measureWaiting(isShort: boolean): Promise<readonly Figure[]> {
  const seconds = isShort ? SHORT_SECONDS : SECONDS;
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  const server = fork(here('waiting-server.ts'));
  try {
    const [port] = await once(server, 'message');
    const asked = async () => {
      server.send('how many?');
      return Number((await once(server, 'message'))[0]);
    };
    const child = spawn(process.execPath, [here('../bin/vloc.js'), 'jobs', 'wait', ...JOBS], {
      env: {
        ...CLEAN_ENV,
        VLOC_BASE_URL: `http://127.0.0.1:${port}/v1`,
        VLOC_KEY: 'vk_bench',
        VLOC_SECRET: 'only for this run',
        VLOC_STATE_DIR: join(folder, 'state'),
        VLOC_CONFIG_DIR: join(folder, 'config'),
      },
      stdio: 'ignore',
    });
    try {
      while (child.exitCode === null && (await asked()) === 0) await sleep(SETTLE_MS);
      const before = { cpu: cpuSecondsOf(child.pid), requests: await asked() };
      await sleep(seconds * 1000);
      if (child.exitCode !== null) throw new Error(`the wait ended with ${child.exitCode}`);
      const share = ((cpuSecondsOf(child.pid) - before.cpu) / seconds) * 100;
      const requests = (await asked()) - before.requests;
      return [
        {
          name: 'waiting for 15 jobs, share of a core',
          value: share,
          unit: '%',
          limit: { atMost: 1 },
          // A process that polls uses some time, and has one thread that is busy.
          plausible: [0.0001, 100],
        },
        {
          name: `requests during ${seconds} s of waiting`,
          value: requests,
          unit: '',
          limit: { atMost: seconds * MOST_PER_SECOND },
          plausible: [1, 1e6],
        },
      ];
    } finally {
      child.kill('SIGKILL');
    }
  } finally {
    server.disconnect();
    rmSync(folder, { recursive: true });
  }
}
