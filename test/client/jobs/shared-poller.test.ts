import { describe, expect, test } from 'vitest';
import { failureOf, startHarness } from '../support/harness.ts';
import { answer, json, problem, type Reply } from '../support/scripted-server.ts';

interface State {
  readonly id: string;
  readonly status: string;
  readonly progress: number;
}

/** Answers lists and single reads of dubbings from one function of time. */
function serve(statesAt: (nowMs: number) => readonly State[], now: () => number): Reply {
  return (seen, response, request) => {
    const states = statesAt(now());
    const id = /^\/v1\/dubbings\/(\w+)/.exec(seen.target)?.[1];
    const single = states.find((state) => state.id === id);
    if (id === undefined)
      json(200, { object: 'list', data: states, has_more: false, next_cursor: null })(
        seen,
        response,
        request,
      );
    else if (single !== undefined) json(200, single)(seen, response, request);
    else problem(404, 'RESOURCE_NOT_FOUND', false)(seen, response, request);
  };
}

const IDS = ['a', 'b', 'c'] as const;

/** Three jobs of 100 s, 120 s and 140 s. */
async function startThree() {
  const harness = await startHarness();
  const { server, runtime } = harness;
  const begun = runtime.now();
  server.fallback = serve(
    (now) =>
      IDS.map((id, at) => {
        const progress = Math.min(100, Math.floor((now - begun) / (1000 + 200 * at)));
        return { id, status: progress === 100 ? 'succeeded' : 'processing', progress };
      }),
    runtime.now,
  );
  return harness;
}

describe('waiting for several jobs', () => {
  test('reads one list instead of each job, and each job once it has ended', async () => {
    const { client, server, runtime } = await startThree();
    const begun = runtime.now();
    const wait = client.jobs.waitTogether();
    const done = await Promise.all(IDS.map((id) => wait('dubbing', id)));
    expect(done.map(({ id, status }) => [id, status])).toEqual(IDS.map((id) => [id, 'succeeded']));
    const targets = server.seen.map(({ target }) => target.replace(/\?.*/, ''));
    for (const id of ['a', 'b']) {
      expect(targets.filter((target) => target === `/v1/dubbings/${id}`)).toHaveLength(1);
    }
    expect(runtime.now() - begun).toBeGreaterThanOrEqual(140_000);
    expect(runtime.now() - begun).toBeLessThan(146_000);
    expect(targets.length).toBeLessThan(60);
  });

  test('polls every 1 to 5 s', async () => {
    const { client, runtime } = await startThree();
    const wait = client.jobs.waitTogether();
    await Promise.all(IDS.map((id) => wait('dubbing', id)));
    expect(Math.min(...runtime.slept)).toBeGreaterThanOrEqual(1_000);
    expect(Math.max(...runtime.slept)).toBeLessThanOrEqual(5_300);
  });

  test('reports changes of each job to its own caller', async () => {
    const { client } = await startThree();
    const wait = client.jobs.waitTogether();
    const told: string[] = [];
    await Promise.all(
      IDS.map((id) => wait('dubbing', id, { onChange: (job) => told.push(`${id}${job.id} ${job.status}`) })),
    );
    expect(new Set(told)).toEqual(
      new Set(IDS.flatMap((id) => [`${id}${id} processing`, `${id}${id} succeeded`])),
    );
  });

  test('fails a missing job alone', async () => {
    const { client } = await startThree();
    const wait = client.jobs.waitTogether();
    const [gone, ...rest] = await Promise.allSettled(['x', 'a', 'b'].map((id) => wait('dubbing', id)));
    expect(gone).toMatchObject({ status: 'rejected', reason: { facts: { code: 'RESOURCE_NOT_FOUND' } } });
    expect(rest.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  });

  test('waits for the others when the time of one is over', async () => {
    const { client } = await startThree();
    const wait = client.jobs.waitTogether();
    const late = failureOf(wait('dubbing', 'c', { timeoutMs: 30_000 }));
    const rest = Promise.all([wait('dubbing', 'a'), wait('dubbing', 'b')]);
    expect((await late).facts).toMatchObject({ category: 'timeout', code: 'STILL_RUNNING', jobId: 'c' });
    expect((await rest).map(({ id }) => id)).toEqual(['a', 'b']);
  });

  test('ends an aborted one with its reason, and no longer polls for it', async () => {
    const { client, server } = await startThree();
    const wait = client.jobs.waitTogether();
    const controller = new AbortController();
    const reason = new Error('enough');
    const onChange = () => controller.abort(reason);
    const aborted = wait('dubbing', 'a', { signal: controller.signal, onChange });
    const other = wait('dubbing', 'b');
    await expect(aborted).rejects.toBe(reason);
    expect((await other).status).toBe('succeeded');
    expect(server.seen.filter(({ target }) => target === '/v1/dubbings/a')).toHaveLength(0);
  });

  test('reports a failed poll, polls again and does not fail the job', async () => {
    const { client, server, events } = await startThree();
    server.script.push(
      ...Array.from({ length: 5 }, () => problem(503, 'SERVICE_TEMPORARILY_UNAVAILABLE', true)),
    );
    const wait = client.jobs.waitTogether();
    const done = await Promise.all([wait('dubbing', 'a'), wait('dubbing', 'b')]);
    expect(done.map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    expect(events).toContainEqual(expect.objectContaining({ type: 'notice', code: 'POLL_FAILED' }));
  });

  test('counts unknown statuses in the list as not finished', async () => {
    const { client, server, runtime, events } = await startHarness();
    const begun = runtime.now();
    const statusAt = (now: number) => (now - begun > 20_000 ? 'succeeded' : 'paused');
    server.fallback = serve(
      (now) => IDS.map((id) => ({ id, status: statusAt(now), progress: 0 })),
      runtime.now,
    );
    const wait = client.jobs.waitTogether();
    const done = await Promise.all(IDS.map((id) => wait('dubbing', id)));
    expect(done.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(events.filter(({ type }) => type === 'notice')).toHaveLength(3);
  });

  test('ends all waits after one minute of redirects', async () => {
    const { client, runtime } = await startHarness({
      fallback: answer(302, { location: 'https://login.test/' }),
    });
    const begun = runtime.now();
    const wait = client.jobs.waitTogether();
    const failures = await Promise.all(IDS.map((id) => failureOf(wait('dubbing', id))));
    expect(failures.map(({ facts }) => facts.code)).toEqual(['REDIRECTED', 'REDIRECTED', 'REDIRECTED']);
    expect((runtime.now() - begun) / 60_000).toBeLessThan(2);
  });

  test('reads each job if the key cannot list them', async () => {
    const { client, server, runtime } = await startHarness();
    const single = serve(() => IDS.map((id) => ({ id, status: 'succeeded', progress: 100 })), runtime.now);
    server.fallback = (seen, response, request) => {
      const refused = problem(403, 'CAPABILITY_NOT_PERMITTED', false);
      (seen.target.includes('?') ? refused : single)(seen, response, request);
    };
    const wait = client.jobs.waitTogether();
    expect(await Promise.all(IDS.map((id) => wait('dubbing', id)))).toHaveLength(3);
  });

  test('does not poll a new job before it may have changed', async () => {
    const { client, server, runtime } = await startThree();
    const wait = client.jobs.waitTogether();
    const made = await client.jobs.get('dubbing', 'a');
    const told: string[] = [];
    const begun = runtime.now();
    const onChange = ({ progress }: { progress: number }) =>
      told.push(`${runtime.now() - begun} ${progress}`);
    await wait('dubbing', 'a', { seen: made, onChange });
    expect(runtime.slept[0]).toBe(1_000);
    expect(told[0]).toBe('1000 1');
    expect(server.seen[0]?.target).toBe('/v1/dubbings/a');
  });

  test('reads a job that has ended according to the caller, because that may be outdated', async () => {
    const { client, server, runtime } = await startThree();
    runtime.advance(200_000);
    const old = await client.jobs.get('dubbing', 'a');
    await client.jobs.waitTogether()('dubbing', 'a', { seen: old });
    await client.jobs.wait('dubbing', 'a', { seen: old });
    expect(server.seen).toHaveLength(3);
  });

  test('reports the end of a job before it reads the result', async () => {
    const { client, server } = await startThree();
    const wait = client.jobs.waitTogether();
    const readBefore: boolean[] = [];
    const onEnd = () => readBefore.push(server.seen.at(-1)?.target === '/v1/dubbings/a');
    await Promise.all([wait('dubbing', 'a', { onEnd }), wait('dubbing', 'b')]);
    expect(readBefore).toEqual([false]);
  });
});
