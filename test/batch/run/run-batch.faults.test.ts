/** What the network, others and the purse do to a batch. */
import { describe, expect, it } from 'vitest';
import { summarizeFailure } from '../../../src/batch/run/outcome.ts';
import { type Fault, type Faults, scriptFaults } from '../../../src/service/index.ts';
import { TRANSLATION, until } from '../../service/harness/scene.ts';
import { startStage } from './support/stage.ts';

/** More than the slots, so that each slot loses an answer; the long run looks for mistakes once in a hundred jobs and rarer ones. */
const MANY = process.env.VLOC_LONG_TESTS === '1' ? 1000 : 16;

describe('lost answers', () => {
  it(`of every first POST of ${MANY} jobs cause no second job and no second charge`, async () => {
    const keys = new Map<string, number>();
    const faults: Faults = {
      before: async () => null,
      async after({ method, target }, answer) {
        if (method !== 'POST' || !target.endsWith('/subtitle-translations')) return answer;
        const { id } = JSON.parse(String(answer.body));
        keys.set(id, (keys.get(id) ?? 0) + 1);
        return keys.get(id) === 1 ? 'drop' : answer;
      },
    };
    // Looking every ten milliseconds is for tests: a real run stays far below the limit of requests.
    const rate = { requests: 1_000_000, windowSeconds: 60 };
    const stage = await startStage({ faults, config: { rate, openingCredits: MANY } });
    const { phases } = await stage.run(stage.lines(MANY));
    expect(new Set(phases)).toEqual(new Set(['done']));
    expect(await stage.books()).toMatchObject({ jobs: MANY, charged: MANY, reserved: 0 });
    expect(await stage.statesOfAttempts()).toEqual(Array(MANY).fill('downloaded'));
    expect([...keys.values()]).toEqual(Array(MANY).fill(2));
  }, 600_000);

  it('until the end of the run are requested again by the next run, with the same key', async () => {
    const faults = scriptFaults([{ on: 'POST /subtitle-translations', drop: 'after', times: 5 }]);
    const stage = await startStage({ faults });
    const items = stage.lines(1);
    const lost = await stage.run(items);
    expect(lost.phases).toEqual(['failed']);
    expect(await stage.statesOfAttempts()).toEqual(['asked']);
    expect((await stage.run(items)).phases).toEqual(['done']);
    expect(await stage.books()).toMatchObject({ jobs: 1, charged: 1 });
    expect(await stage.statesOfAttempts()).toEqual(['downloaded']);
  });

  it('that cannot be parsed say nothing about the job, so it is requested again', async () => {
    const faults = scriptFaults([
      { on: 'POST /subtitle-translations', body: '{"object":"surprise"}', status: 202, when: 'after' },
    ]);
    const stage = await startStage({ faults });
    const items = stage.lines(1);
    expect((await stage.run(items)).phases).toEqual(['failed']);
    expect(await stage.statesOfAttempts()).toEqual(['asked']);
    expect((await stage.run(items)).phases).toEqual(['done']);
    expect(await stage.books()).toMatchObject({ jobs: 1, charged: 1 });
  });

  it('are found by their reference if the options have changed, so that the request cannot be repeated', async () => {
    const faults = scriptFaults([{ on: 'POST /subtitle-translations', drop: 'after', times: 5 }]);
    const stage = await startStage({ faults });
    const [item] = stage.lines(1);
    if (item === undefined) throw new Error('no item');
    const callback = { ...item, fields: { ...item.fields, callback_url: 'https://example.com/?token=1' } };
    await stage.run([callback]);
    const other = { ...item, fields: { ...item.fields, callback_url: 'https://example.com/?token=2' } };
    expect((await stage.run([other])).phases).toEqual(['done']);
    expect(await stage.books()).toMatchObject({ jobs: 1, charged: 1 });
  });
});

describe('a service outage', () => {
  it('stops the run after three failures in a row, without many requests', async () => {
    const faults = scriptFaults([{ on: 'POST /subtitle-translations', times: 5 * 15, status: 503 }]);
    const stage = await startStage({ faults });
    const items = stage.lines(6);
    const { outcomes, events } = await stage.run(items, { options: { jobs: 1 } });
    expect(events.filter(({ type }) => type === 'stop')).toMatchObject([{ reason: 'network' }]);
    expect(summarizeFailure(outcomes)?.facts).toMatchObject({ category: 'temporary' });
    const left = outcomes.filter(({ state }) => state.phase === 'left').length;
    expect(left).toBeGreaterThanOrEqual(3);
    // Three items, each asked five times: no storm.
    expect(faults.pending()).toMatchObject([{ times: 5 * 15 - 15 }]);
  });

  it('does not fail the items of a short outage', async () => {
    const faults = scriptFaults([{ on: 'POST /subtitle-translations', times: 10, status: 503 }]);
    const stage = await startStage({ faults });
    const { phases } = await stage.run(stage.lines(6), { options: { jobs: 2 } });
    expect(phases).toEqual(Array(6).fill('done'));
    expect(await stage.books()).toMatchObject({ jobs: 6, charged: 6 });
  });
});

describe('a finished job that a stale replica reports as processing', () => {
  /** Refuses downloads; the read of the job after that is stale, and later ones have a link with more time. */
  function staleAfterDownload(status: number, refusals: number): Faults {
    const left = { refusals, stale: 0 };
    return {
      async before({ target }) {
        if (!target.includes('/assets/') || left.refusals === 0) return null;
        left.refusals -= 1;
        left.stale = 1;
        return { status, headers: {}, body: '' };
      },
      async after({ method, target }, answer) {
        const isRead = method === 'GET' && /\/subtitle-translations\/\w+$/.test(target);
        if (!isRead || left.refusals > 0) return answer;
        const job = JSON.parse(String(answer.body));
        const isStale = left.stale > 0 && job.status === 'succeeded';
        left.stale = 0;
        const fresh = { ...job, expires_at: '2100-01-01T00:00:00.000Z', result: bareLinks(job.result) };
        return {
          ...answer,
          body: JSON.stringify(isStale ? { ...job, status: 'processing', result: null } : fresh),
        };
      },
    };
  }

  const bareLinks = (result: { subtitle: { url: string } } | null) =>
    result === null ? null : { ...result, subtitle: result.subtitle.url ?? result.subtitle };

  it('is awaited by the run after one whose download failed, and its result is fetched', async () => {
    const stage = await startStage({ faults: staleAfterDownload(500, 5) });
    const items = stage.lines(1);
    expect((await stage.run(items)).phases).toEqual(['failed']);
    expect(await stage.statesOfAttempts()).toEqual(['succeeded']);
    const { phases, outcomes } = await stage.run(items);
    expect(phases, JSON.stringify(outcomes)).toEqual(['done']);
    expect(await stage.books()).toMatchObject({ jobs: 1, charged: 1 });
  });

  it('is awaited for the new link of a download that was refused', async () => {
    const stage = await startStage({ faults: staleAfterDownload(403, 1) });
    const { phases, outcomes } = await stage.run(stage.lines(1));
    expect(phases, JSON.stringify(outcomes)).toEqual(['done']);
  });
});

describe('an upload that the service rejects when the job is made', () => {
  it('is sent again, once for all languages, under a new key', async () => {
    const refusal = { on: 'POST /auto-localizations', status: 422, code: 'INPUT_NOT_USABLE' } as const;
    const script = scriptFaults([{ ...refusal, times: 2 }]);
    let creates = 0;
    const before: Faults['before'] = async (request) => {
      const answer = await script.before(request);
      if (request.method !== 'POST' || !request.target.endsWith('/auto-localizations')) return answer;
      creates += 1;
      // The second language learns of it after the first has sent the file again.
      if (creates === 2) {
        await until(async () => (await stage.books()).uploads === 2);
      }
      return answer;
    };
    const stage = await startStage({ faults: { ...script, before } });
    const { phases } = await stage.run(await stage.video('talk.mp4', 30, ['es', 'fr']));
    expect(phases).toEqual(['done', 'done']);
    expect(await stage.books()).toMatchObject({ jobs: 2, charged: 2, uploads: 2 });
    expect((await stage.statesOfAttempts()).toSorted()).toEqual([
      'downloaded',
      'downloaded',
      'refused',
      'refused',
    ]);
  });

  it('fails its item if the new one is rejected too', async () => {
    const refusal = { on: 'POST /auto-localizations', status: 422, code: 'INPUT_NOT_USABLE' } as const;
    const stage = await startStage({ faults: scriptFaults([{ ...refusal, times: 2 }]) });
    const { outcomes } = await stage.run(await stage.video('talk.mp4', 30));
    expect(outcomes[0]?.state).toMatchObject({ failure: { facts: { code: 'INPUT_NOT_USABLE' } } });
  });
});

describe('slots that others have taken', () => {
  it('are waited for, without using an attempt and without many requests', async () => {
    const stage = await startStage();
    stage.engines.hold();
    // Another program of the workspace holds 13 of the 15.
    for (let count = 0; count < 13; count += 1) {
      await stage.caller.post('/v1/subtitle-translations', TRANSLATION);
    }
    const items = stage.lines(6);
    const running = stage.run(items);
    const list = '/v1/subtitle-translations?limit=50';
    await until(async () => (await stage.caller.get(list)).json.data.length === 15);
    stage.engines.letGo();
    const { phases, events } = await running;
    expect(phases).toEqual(Array(6).fill('done'));
    const sizes = events.flatMap((event) => (event.type === 'window' ? [event.size] : []));
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(1);
    expect(Math.min(...sizes)).toBeLessThanOrEqual(5);
    expect(await stage.books()).toMatchObject({ jobs: 19, reserved: 0 });
  });
});

describe('money', () => {
  it('that runs out in the middle stops new jobs, keeps existing results, and exits with "credits"', async () => {
    const stage = await startStage({ config: { openingCredits: 4 } });
    const items = stage.lines(8);
    const { outcomes, phases } = await stage.run(items, { options: { jobs: 1 } });
    expect(phases.slice(0, 5)).toEqual(['done', 'done', 'done', 'done', 'failed']);
    expect(phases.slice(5)).toEqual(['left', 'left', 'left']);
    expect(summarizeFailure(outcomes)?.facts).toMatchObject({ category: 'credits' });
    await stage.service.grantCredits({ credits: 10 });
    expect((await stage.run(items)).phases).toEqual(Array(8).fill('done'));
    expect(await stage.books()).toMatchObject({ jobs: 8, charged: 8, reserved: 0 });
  });

  it('is never spent beyond --max-credits, over several runs', async () => {
    const stage = await startStage();
    const items = stage.lines(8);
    for (let run = 0; run < 2; run += 1) {
      const { outcomes } = await stage.run(items, { options: { maxCredits: 5 } });
      expect(summarizeFailure(outcomes)?.facts.code).toBe('MAX_CREDITS_REACHED');
      expect(await stage.books()).toMatchObject({ jobs: 5, charged: 5 });
    }
    await stage.run(items, { options: { maxCredits: 8 } });
    expect(await stage.books()).toMatchObject({ jobs: 8, charged: 8 });
  });
});

describe('a key that is not accepted', () => {
  it('stops everything immediately', async () => {
    const faults = scriptFaults([
      { on: 'POST /subtitle-translations', times: Number.POSITIVE_INFINITY, status: 401 },
    ]);
    const stage = await startStage({ faults });
    const { outcomes } = await stage.run(stage.lines(5), { options: { jobs: 1 } });
    expect(summarizeFailure(outcomes)?.facts).toMatchObject({ category: 'configuration' });
    expect(outcomes.filter(({ state }) => state.phase === 'left')).toHaveLength(4);
    // A refusal before the key is checked says nothing about an earlier attempt: it is sent again with its key.
    expect(await stage.statesOfAttempts()).toEqual(['asked']);
  });
});

describe('the permission of a key for the jobs of the run', () => {
  /** A stage with two videos, and the requests that are sent from now on. */
  async function startWatched(...script: readonly Fault[]) {
    const seen: string[] = [];
    const faults = scriptFaults(script);
    const stage = await startStage({
      faults: {
        ...faults,
        before(request) {
          seen.push(`${request.method} ${request.target}`);
          return faults.before(request);
        },
      },
    });
    const items = [...(await stage.video('a.mp4', 60)), ...(await stage.video('b.mp4', 61))];
    return { stage, items, seen };
  }

  const lack = ({ service, credentials }: Awaited<ReturnType<typeof startStage>>) =>
    service.changeKey(credentials.key, { permissions: ['dubbing'] });

  it.each(['a new folder', 'a folder with records', 'a folder with --fresh'])(
    'ends the run before the first upload into %s if the key lacks it',
    async (name) => {
      const { stage, items, seen } = await startWatched();
      if (name === 'a folder with records') await stage.run(stage.lines(1));
      await lack(stage);
      seen.length = 0;
      const options = { fresh: name === 'a folder with --fresh' };
      const { outcomes, phases } = await stage.run(items, { options });
      expect(phases[0]).toBe('failed');
      expect(summarizeFailure(outcomes)).toMatchObject({
        facts: { code: 'CAPABILITY_NOT_PERMITTED', category: 'configuration' },
      });
      expect(seen.filter((request) => !request.startsWith('GET '))).toEqual([]);
    },
  );

  it('is asked for with one list, and not at all if the run has listed the jobs anyway', async () => {
    const { stage, items, seen } = await startWatched();
    const [first, second] = items;
    if (first === undefined || second === undefined) throw new Error('no items');
    const lists = () => seen.filter((request) => /^GET [^?]*\/auto-localizations\?/.test(request));
    await stage.run([first]);
    expect(lists()).toEqual(['GET /v1/auto-localizations?limit=50']);
    seen.length = 0;
    await stage.run([first, second]);
    expect(lists()).toEqual(['GET /v1/auto-localizations?limit=1']);
    seen.length = 0;
    await stage.run([first, second]);
    expect(lists()).toEqual([]);
  });

  it('counts as given if the list fails for another reason', async () => {
    const { stage, items, seen } = await startWatched({
      on: 'GET /auto-localizations',
      times: Number.POSITIVE_INFINITY,
      status: 503,
    });
    const { phases } = await stage.run(items, { options: { fresh: true, detach: true } });
    expect(phases).toEqual(['left', 'left']);
    expect(seen.filter((request) => request === 'POST /v1/auto-localizations')).toHaveLength(2);
  });
});
