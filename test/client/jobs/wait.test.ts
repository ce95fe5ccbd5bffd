import { describe, expect, test } from 'vitest';
import type { Job } from '../../../src/client/index.ts';
import { failureOf, startHarness } from '../support/harness.ts';
import { answer, html, json, problem, reset } from '../support/scripted-server.ts';

const at = (status: string, progress = 0, stage: string | null = null) =>
  json(200, { id: 'loc_1', status, progress, stage });

describe('waiting for a job', () => {
  test.each(['succeeded', 'cancelled'])('ends with the job that is %s', async (status) => {
    const { client, server } = await startHarness();
    server.script.push(at('queued'), at('processing', 40), at(status, 100));
    const job = await client.jobs.wait('auto_localization', 'loc_1');
    expect(job).toMatchObject({ id: 'loc_1', status });
    expect(server.seen.map((seen) => seen.target)).toEqual(Array(3).fill('/v1/auto-localizations/loc_1'));
  });

  test('reports every change of status, stage and progress, and nothing twice', async () => {
    const { client, server } = await startHarness();
    const steps = [
      at('queued'),
      at('queued'),
      at('processing', 5, 'separating'),
      at('processing', 5, 'recognizing'),
    ];
    server.script.push(...steps, at('processing', 5, 'recognizing'), at('succeeded', 100));
    const told: string[] = [];
    const onChange = ({ status, stage, progress }: Job) => told.push(`${status} ${stage} ${progress}`);
    await client.jobs.wait('auto_localization', 'loc_1', { onChange });
    expect(told).toEqual([
      'queued null 0',
      'processing separating 5',
      'processing recognizing 5',
      'succeeded null 100',
    ]);
  });

  test('polls after half of the time already waited, and at least every five seconds', async () => {
    const { client, server, runtime } = await startHarness({ fallback: at('processing', 3) });
    server.script.push(...Array.from({ length: 12 }, () => at('processing', 3)), at('succeeded', 100));
    await client.jobs.wait('auto_localization', 'loc_1');
    expect(runtime.slept.slice(0, 5)).toEqual([500, 500, 500, 750, 1_125]);
    expect(runtime.slept.at(-1)).toBe(5_300);
  });

  test('polls at a given pace if polling costs nothing', async () => {
    const { client, server, runtime } = await startHarness();
    server.script.push(at('queued'), at('processing', 40), at('processing', 90), at('succeeded', 100));
    await client.jobs.wait('auto_localization', 'loc_1', { everyMs: 200 });
    expect(runtime.slept).toEqual([200, 200, 200]);
  });

  test('continues after failed polls: a failed poll is not a failed job', async () => {
    const { client, server, events } = await startHarness();
    const outage = [...Array.from({ length: 12 }, () => reset), html(502, 'Bad Gateway')];
    server.script.push(at('processing', 10), ...outage, at('succeeded', 100));
    expect((await client.jobs.wait('auto_localization', 'loc_1')).status).toBe('succeeded');
    expect(events).toContainEqual(expect.objectContaining({ type: 'notice', code: 'POLL_FAILED' }));
  });

  test('counts a status that this version does not know as not finished, and reports it once', async () => {
    const { client, server, events } = await startHarness();
    server.script.push(at('processing', 10), at('paused\n', 10), at('paused\n', 20), at('succeeded', 100));
    expect((await client.jobs.wait('auto_localization', 'loc_1')).status).toBe('succeeded');
    expect(events.filter(({ type }) => type === 'notice')).toEqual([
      {
        type: 'notice',
        code: 'STATUS_UNKNOWN',
        message:
          'loc_1 has the status "paused\\n", which this version does not know; it counts as not finished',
      },
    ]);
  });

  test('ends after one minute of redirects with the failure of a redirected request', async () => {
    const { client, runtime } = await startHarness({
      fallback: answer(302, { location: 'https://login.test/' }),
    });
    const begun = runtime.now();
    const { facts } = await failureOf(client.jobs.wait('auto_localization', 'loc_1'));
    expect(facts).toMatchObject({ category: 'configuration', code: 'REDIRECTED' });
    const minutes = (runtime.now() - begun) / 60_000;
    expect(minutes).toBeGreaterThanOrEqual(1);
    expect(minutes).toBeLessThan(2);
  });

  test('continues after a login page that redirects for some seconds', async () => {
    const { client, server } = await startHarness();
    const login = answer(302, { location: 'https://login.test/' });
    server.script.push(at('processing', 10), login, login, login, at('succeeded', 100));
    expect((await client.jobs.wait('auto_localization', 'loc_1')).status).toBe('succeeded');
  });

  test('ends when the service reports a permanent failure', async () => {
    const { client, server } = await startHarness();
    server.script.push(at('processing', 10), problem(404, 'RESOURCE_NOT_FOUND', false));
    const { facts } = await failureOf(client.jobs.wait('auto_localization', 'loc_1'));
    expect(facts).toMatchObject({ category: 'refused', code: 'RESOURCE_NOT_FOUND' });
  });

  test('ends after fifteen minutes of nothing but failures, as temporary', async () => {
    const { client, runtime } = await startHarness({ fallback: problem(500, 'INTERNAL_ERROR', true) });
    const begun = runtime.now();
    const { facts } = await failureOf(client.jobs.wait('auto_localization', 'loc_1'));
    expect(facts).toMatchObject({ category: 'temporary', code: 'INTERNAL_ERROR' });
    const minutes = (runtime.now() - begun) / 60_000;
    expect(minutes).toBeGreaterThanOrEqual(15);
    expect(minutes).toBeLessThan(17);
  });

  test('survives outages with one successful poll in between, however long they are together', async () => {
    const { client, server, runtime } = await startHarness();
    const begun = runtime.now();
    let looks = 0;
    server.fallback = (seen, response, request) => {
      const minutes = (runtime.now() - begun) / 60_000;
      // One look succeeds in the eleventh minute; from the 22nd on all of them do.
      const back = minutes >= 22 || (minutes >= 11 && looks === 0);
      if (back) looks += 1;
      const reply = back
        ? at(minutes >= 22 ? 'succeeded' : 'processing', 50)
        : problem(500, 'INTERNAL_ERROR', true);
      reply(seen, response, request);
    };
    expect((await client.jobs.wait('auto_localization', 'loc_1')).status).toBe('succeeded');
  });

  test('ends at its time-out, never later, with the command that continues', async () => {
    const { client, runtime } = await startHarness({ fallback: at('processing', 3) });
    const begun = runtime.now();
    const { facts } = await failureOf(client.jobs.wait('auto_localization', 'loc_1', { timeoutMs: 40_000 }));
    expect(facts).toMatchObject({ category: 'timeout', code: 'STILL_RUNNING', jobId: 'loc_1' });
    expect(facts.advice).toContain('vloc jobs wait auto-localizations/loc_1');
    expect(runtime.now() - begun).toBe(40_000);
  });

  test('with a time-out of 0 polls once', async () => {
    const { client, server, runtime } = await startHarness({ fallback: at('processing', 3) });
    const { facts } = await failureOf(client.jobs.wait('auto_localization', 'loc_1', { timeoutMs: 0 }));
    expect(facts.code).toBe('STILL_RUNNING');
    expect(server.seen).toHaveLength(1);
    expect(runtime.slept).toEqual([]);
  });

  test('is timed out, not temporary, if the service is down at the end', async () => {
    const { client, runtime } = await startHarness({ fallback: reset });
    const begun = runtime.now();
    const { facts } = await failureOf(client.jobs.wait('auto_localization', 'loc_1', { timeoutMs: 60_000 }));
    expect(facts.code).toBe('STILL_RUNNING');
    expect(runtime.now() - begun).toBeLessThanOrEqual(65_000);
  });

  test('ends with the reason of the signal', async () => {
    const controller = new AbortController();
    const reason = new Error('the user pressed Ctrl-C');
    const { client } = await startHarness({ fallback: at('processing', 3) });
    const onChange = () => controller.abort(reason);
    const work = client.jobs.wait('auto_localization', 'loc_1', { signal: controller.signal, onChange });
    await expect(work).rejects.toBe(reason);
  });
});
