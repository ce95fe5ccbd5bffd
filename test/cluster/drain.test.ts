/** `vloc serve --role worker` as a process of its own: how it is probed, and how it ends with a running job. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { send } from '../service/harness/caller.ts';
import { NEW_JOB, until, untilJob } from '../service/harness/scene.ts';
import { runMain } from '../support/run-main.ts';
import { NO_POSTGRES, usePostgres } from '../support/use-postgres.ts';
import { type Fleet, openFleet, translation } from './fleet.ts';

const ENTRY = fileURLToPath(new URL('../cli/support/run.ts', import.meta.url));

const server = usePostgres();

/** An engine that writes the file `begun`, and translates nothing until there is a file `go`. */
const GATE = `
import { existsSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
writeFileSync('BEGUN', '');
const timer = setInterval(() => {
  if (!existsSync('GO')) return;
  clearInterval(timer);
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, text } = JSON.parse(line);
    console.log(JSON.stringify({ id, text }));
  });
}, 20);
`;

interface WorkerProcess {
  readonly child: ChildProcess;
  readonly started: { readonly node: string; readonly metrics_url: string };
  readonly log: () => string;
  readonly begun: () => Promise<boolean>;
  readonly letGo: () => Promise<void>;
  /** Its exit code. */
  readonly ended: Promise<unknown>;
  /** Runs another command on its state folder. */
  health(...words: string[]): Promise<{ code: unknown; stdout: string }>;
}

async function startWorkerProcess(fleet: Fleet, ...words: string[]): Promise<WorkerProcess> {
  const folder = join(fleet.stateDir, 'of-the-test');
  await mkdir(folder);
  const [begun, go] = [join(folder, 'begun'), join(folder, 'go')];
  await writeFile(join(folder, 'gate.mjs'), GATE.replace('BEGUN', begun).replace('GO', go));
  const run = [process.execPath, join(folder, 'gate.mjs')];
  const engines = { translate: [{ type: 'command', run, languages: ['en', 'es'] }] };
  await writeFile(join(folder, 'engines.json'), JSON.stringify(engines));
  const env = {
    PATH: process.env.PATH ?? '',
    VLOC_DATABASE: fleet.database,
    VLOC_STATE_DIR: fleet.stateDir,
    VLOC_ENGINES: join(folder, 'engines.json'),
    VLOC_CONFIG_DIR: folder,
  };
  const options = ['--role', 'worker', '--metrics-port', '0', '--output', 'json'];
  const child = spawn(process.execPath, [ENTRY, 'serve', ...options, ...words], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const ended = once(child, 'exit').then(([code]) => code);
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    ended.then((code) => expect.unreachable(`it ended with ${code}: ${log}`)),
  ]);
  return {
    child,
    started: JSON.parse(line),
    log: () => log,
    begun: () => until(() => existsSync(begun)),
    letGo: () => writeFile(go, ''),
    ended,
    async health(...more) {
      const asked = spawn(process.execPath, [ENTRY, 'serve', 'health', '--output', 'json', ...more], { env });
      const [[code], stdout] = await Promise.all([once(asked, 'close'), text(asked.stdout)]);
      return { code, stdout };
    },
  };
}

const rowsOf = (fleet: Fleet) =>
  fleet.store.all('SELECT status, attempts, crashes FROM jobs ORDER BY created_at, id');

describe.skipIf(NO_POSTGRES)('a worker', () => {
  it('finishes its job after SIGTERM with --drain, takes no other one, and is probed meanwhile', async () => {
    const fleet = await openFleet(server);
    const api = await fleet.startApi();
    const worker = await startWorkerProcess(fleet, '--drain', '30m');
    const probe = async (path: string) => {
      const { status, json } = await send(worker.started.metrics_url + path);
      return [status, json?.status];
    };
    expect(await probe('/readyz')).toEqual([200, 'ok']);
    expect((await fetch(`${worker.started.metrics_url}/v1/credits`)).status).toBe(404);
    const { json: job } = await api.caller.post(NEW_JOB, translation());
    await worker.begun();
    expect((await send(`${worker.started.metrics_url}/metrics`)).bytes.toString()).toContain(
      'vloc_node_jobs_running 1\n',
    );

    worker.child.kill('SIGTERM');
    await until(worker.log, (text) => text.includes('running jobs have 30 min to finish'));
    expect(await probe('/readyz')).toEqual([503, 'closing']);
    expect(await probe('/livez')).toEqual([200, 'ok']);
    await api.caller.post(NEW_JOB, translation());
    // Before the next report of the process, this shows the state before the signal.
    const { stdout } = await until(
      () => worker.health(),
      (asked) => asked.stdout.includes('closing'),
    );
    expect(JSON.parse(stdout)).toMatchObject({
      node: worker.started.node,
      status: 'closing',
      running_jobs: 1,
      lease: 'ok',
      disk_free_bytes: expect.any(Number),
      engines: expect.any(String),
    });
    const origin = new URL(api.service.url).origin;
    await expect
      .poll(async () => (await send(`${origin}/readyz`)).json.queue)
      .toBe('no worker runs; 1 jobs and 0 uploads wait');

    await worker.letGo();
    expect(await worker.ended).toBe(0);
    expect((await api.caller.get(job.detail_url)).json.status).toBe('succeeded');
    expect(await rowsOf(fleet)).toEqual([
      { status: 'succeeded', attempts: 1, crashes: 0 },
      { status: 'queued', attempts: 0, crashes: 0 },
    ]);
    expect((await worker.health()).code).toBe(7);
  });

  it('names the option of a port for its health that is in use', async () => {
    const fleet = await openFleet(server);
    const { service } = await fleet.startApi();
    const env = { VLOC_DATABASE: fleet.database, VLOC_STATE_DIR: fleet.stateDir };
    const { port } = new URL(service.url);
    const { code, stderr } = await runMain(['serve', '--role', 'worker', '--metrics-port', port], { env });
    expect([code, stderr]).toEqual([4, expect.stringContaining('choose another --metrics-port')]);
  });

  it('gives its job back at the second SIGTERM, without counting the attempt', async () => {
    const fleet = await openFleet(server);
    const api = await fleet.startApi();
    const worker = await startWorkerProcess(fleet, '--drain', '30m');
    const { json: job } = await api.caller.post(NEW_JOB, translation());
    await worker.begun();
    worker.child.kill('SIGTERM');
    await until(worker.log, (text) => text.includes('a second signal ends this now'));
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toBe(0);
    expect(await rowsOf(fleet)).toMatchObject([{ attempts: 0, crashes: 0 }]);
    await fleet.startWorker();
    await untilJob(api.caller, job, 'succeeded');
    expect(await rowsOf(fleet)).toEqual([{ status: 'succeeded', attempts: 1, crashes: 0 }]);
  });
});
