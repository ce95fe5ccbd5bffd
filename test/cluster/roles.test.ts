/** Nodes with roles: who answers, who works, and who can do what. */
import { describe, expect, it } from 'vitest';
import { createWorker } from '../../src/service/index.ts';
import { send } from '../service/harness/caller.ts';
import { NEW_JOB, type Scene, until, untilJob } from '../service/harness/scene.ts';
import { createSmallEngines } from '../service/harness/small-engines.ts';
import { makeFolder } from '../support/make-folder.ts';
import { freshAccount } from '../support/postgres.ts';
import { NO_POSTGRES, usePostgres } from '../support/use-postgres.ts';
import { openFleet, translation } from './fleet.ts';

const server = usePostgres();

/** Engines of a machine where none are installed. */
function noEngines() {
  const fail = () => Promise.reject(new Error('no engine is installed here'));
  return Object.assign(createSmallEngines(), { capabilities: fail, inspect: fail, checkExport: fail });
}

describe.skipIf(NO_POSTGRES)('nodes with roles (need postgresql: sh .ci/packages)', () => {
  it('accept jobs without engines, and leave them to workers', async () => {
    const fleet = await openFleet(server);
    const api = await fleet.startApi({ engines: noEngines() });
    const waiting = await api.caller.post(NEW_JOB, translation());
    expect(waiting.status).toBe(202);
    const { engines } = await fleet.startWorker();
    await untilJob(api.caller, waiting.json, 'succeeded');
    const created = await api.caller.post(NEW_JOB, translation('fr'));
    await untilJob(api.caller, created.json, 'succeeded');
    expect(engines.begun).toHaveLength(2);
    expect(api.engines.begun).toHaveLength(0);
  });

  it('refuse immediately what none of the workers can do', async () => {
    const fleet = await openFleet(server);
    const api = await fleet.startApi({ engines: noEngines() });
    await fleet.startWorker(['es']);
    await fleet.startWorker(['fr']);
    const refused = await api.caller.post(NEW_JOB, translation('de'));
    expect(refused.status).toBe(422);
    expect(refused.json.code).toBe('LANGUAGE_NOT_SUPPORTED');
    expect(refused.json.detail).toContain('German');
    expect((await api.caller.post(NEW_JOB, translation('fr'))).status).toBe(202);
  });

  it('give each job to a worker whose engines can do it', async () => {
    const fleet = await openFleet(server);
    const api = await fleet.startApi({ engines: noEngines() });
    const [spanish, french] = [await fleet.startWorker(['es']), await fleet.startWorker(['fr'])];
    const targets = ['fr', 'fr', 'es', 'fr', 'es'];
    const jobs = [];
    for (const target of targets) jobs.push((await api.caller.post(NEW_JOB, translation(target))).json);
    for (const job of jobs) await untilJob(api.caller, job, 'succeeded');
    expect([spanish.engines.begun.length, french.engines.begun.length]).toEqual([2, 3]);
  });

  it.each([
    ['stopped', undefined],
    ['died', "UPDATE jobs SET status = 'processing', lease_owner = '1-dead@here', lease_until = 1"],
  ])(
    'fail a job whose worker %s after five minutes in which no other could do it, at no cost',
    async (_, change) => {
      const fleet = await openFleet(server);
      const api = await fleet.startApi({ engines: noEngines() });
      const french = await fleet.startWorker(['fr']);
      await fleet.startWorker(['es']);
      french.engines.hold();
      const { json: job } = await api.caller.post(NEW_JOB, translation('fr'));
      await until(() => french.engines.begun.length === 1);
      await french.worker.close();
      if (change !== undefined) await fleet.store.run(change);
      await fleet.pass(4 * 60_000);
      expect((await api.caller.get(job.detail_url)).json.error).toBeNull();
      await fleet.pass(2 * 60_000);
      const failed = await untilJob(api.caller, job, 'failed');
      expect(failed).toMatchObject({
        error: { code: 'LANGUAGE_NOT_SUPPORTED', retryable: false },
        billing: { charged_credits: 0 },
      });
      expect(failed.error.message).toMatch(/^no worker of the last 5 minutes can do this job: .*French/);
    },
  );

  it('keep jobs for an hour in which no worker runs', async () => {
    const fleet = await openFleet(server);
    const api = await fleet.startApi({ engines: noEngines() });
    const { json: job } = await api.caller.post(NEW_JOB, translation());
    await fleet.pass(20 * 60_000);
    expect((await api.caller.get(job.detail_url)).json.status).toBe('queued');
    await fleet.pass(41 * 60_000);
    const failed = await untilJob(api.caller, job, 'failed');
    expect(failed).toMatchObject({ error: { code: 'ENGINE_ERROR', retryable: true } });
    expect(failed.started_at).toBe(failed.finished_at);
    expect(failed.error.message).toContain('no worker has run for 60 minutes');
  });

  it('know only what they have seen: a node that was away for an hour fails no job', async () => {
    const fleet = await openFleet(server);
    const api = await fleet.startApi({ engines: noEngines() });
    const { json: job } = await api.caller.post(NEW_JOB, translation());
    fleet.clock.advance(2 * 3_600_000);
    await fleet.pass(60_000);
    expect((await api.caller.get(job.detail_url)).json.status).toBe('queued');
    await fleet.startWorker();
    await untilJob(api.caller, job, 'succeeded');
  });

  it('give the job of a worker that stops to another one immediately, as the same attempt', async () => {
    const fleet = await openFleet(server);
    const api = await fleet.startApi({ engines: noEngines() });
    const first = await fleet.startWorker();
    first.engines.hold();
    const { json: job } = await api.caller.post(NEW_JOB, translation());
    await until(() => first.engines.begun.length === 1);
    await fleet.startWorker();
    const leaving = fleet.clock.now();
    await first.worker.close();
    await untilJob(api.caller, job, 'succeeded');
    const row = await fleet.store.get(
      'SELECT attempts, crashes, finished_at - ? < 10000 AS soon FROM jobs',
      leaving,
    );
    expect(row).toEqual({ attempts: 1, crashes: 0, soon: true });
    const nodes = await fleet.store.all(
      'SELECT role, stopped_at IS NULL AS works FROM nodes ORDER BY started_at',
    );
    expect(nodes).toEqual([
      { role: 'api', works: true },
      { role: 'worker', works: false },
      { role: 'worker', works: true },
    ]);
  });
});

describe.skipIf(NO_POSTGRES)('an API node', () => {
  const page = async ({ service }: Scene, path: string) => send(new URL(service.url).origin + path);

  it('answers without workers, says that jobs wait, and shows the nodes to Prometheus', async () => {
    const fleet = await openFleet(server);
    const api = await fleet.startApi({ engines: noEngines(), metricsFrom: ['127.0.0.1'] });
    const other = await fleet.startApi({ engines: noEngines(), metricsFrom: ['127.0.0.1'] });
    const parts = { database: 'ok', storage: 'ok' };
    await api.caller.post(NEW_JOB, translation());
    const queue = 'no worker runs; 1 jobs and 0 uploads wait';
    const lonely = await page(api, '/readyz');
    expect([lonely.status, lonely.json]).toEqual([200, { status: 'degraded', ...parts, queue }]);
    // A worker that was killed keeps its lease until it ends, and nobody works on the job afterwards either.
    await fleet.store.run(`UPDATE jobs SET lease_owner = '1-dead@here', lease_until = 1`);
    fleet.clock.advance(1000);
    expect((await page(api, '/readyz')).json).toEqual({ status: 'degraded', ...parts, queue });

    const { engines, worker } = await fleet.startWorker();
    engines.hold();
    await until(() => engines.begun.length === 1);
    await fleet.pass(13_000);
    expect((await page(api, '/readyz')).json).toEqual({ status: 'ok', ...parts, queue: 'ok' });
    for (const node of [api, other]) {
      const text = (await page(node, '/metrics')).bytes.toString();
      // The same on every node: not to be summed.
      expect(text).toContain(
        'vloc_nodes{role="api"} 2\nvloc_nodes{role="worker"} 1\nvloc_nodes{role="all"} 0\n',
      );
      expect(text).toMatch(
        new RegExp(`vloc_jobs_running\\{node="${worker.id}",host="[^"]+",role="worker"\\} 1\n`),
      );
      // Of this node alone.
      expect(text).toContain('vloc_node_jobs_running 0\n');
      expect(text).toMatch(/vloc_node_info\{node="[^"]+",role="api",version="[^"]+"\} 1\n/);
    }
  });
});

it('the role of a worker that has no slot is refused', async () => {
  const stateDir = makeFolder();
  const database = NO_POSTGRES ? 'postgres:///none' : freshAccount(server);
  const worker = createWorker({ stateDir, database, config: { workers: 0 } });
  await expect(worker).rejects.toThrow('"workers" is 0');
});
