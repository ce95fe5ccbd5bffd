/** Jobs that share stages: what they cost, who shares with whom, and what happens to the slots and the disk. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { Work } from '../../../src/media/work.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import type { ServiceOptions } from '../../../src/service/index.ts';
import { type Scene, startScene, until, untilJob } from '../harness/scene.ts';
import { createSmallEngines } from '../harness/small-engines.ts';

const DAY_MS = 86_400_000;

/** Translations share one stage, with a file, for each text; dubs share nothing. */
async function startSharing(options: Partial<ServiceOptions> = {}) {
  const small = createSmallEngines();
  const translated: string[] = [];
  const asked: string[] = [];
  let gate = Promise.resolve();
  const engines = {
    ...small,
    run: {
      ...small.run,
      subtitle_translation: (async (task, work) => {
        const text = task.lines[0]?.text ?? '';
        const input = join(work.folder, 'input');
        await writeFile(input, text);
        const translate = async (own: Work) => {
          translated.push(text);
          await gate;
          await readFile(input);
          const file = join(own.folder, 'file');
          await writeFile(file, text);
          return { language: task.targetLanguage, lines: task.lines, file };
        };
        asked.push(text);
        const { result: made, reused } = (await work.sharing?.once(text, work, translate)) ?? {
          ...{ result: await translate(work), reused: false },
        };
        const use = { step: 'translate', engine: 'apertium', skipped: [] } as const;
        const { file: _, ...subtitle } = made;
        return { subtitle, engines: [reused ? { ...use, reused } : use] };
      }) satisfies typeof small.run.subtitle_translation,
    },
  };
  const scene = await startScene({ engines, ...options });
  return {
    ...scene,
    small,
    translated,
    asked,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
  };
}

async function create({ caller }: Pick<Scene, 'caller'>, text: string, path = 'subtitle-translations') {
  const lines = [{ index: 1, start_ms: 0, end_ms: 1000, text }];
  const source = path === 'dubbings' ? {} : { source_language: 'en' };
  const body = { subtitle: { type: 'lines', lines }, ...source, target_language: 'es' };
  return (await caller.post(`/v1/${path}`, body)).json;
}

const run = async (scene: Pick<Scene, 'caller'>, text: string) =>
  untilJob(scene.caller, await create(scene, text), 'succeeded', 'failed');

/** Two jobs that need the same stage: the first computes it until `open` is called, and the second waits for it. */
async function startTwoOfOneStage() {
  const scene = await startSharing({ config: { workers: 2 } });
  const open = scene.hold();
  const first = await create(scene, 'hello');
  await until(() => scene.translated.length === 1);
  const second = await create(scene, 'hello');
  await until(() => scene.asked.length === 2);
  return { scene, open, first, second };
}

/** Results of stages that the service keeps. */
function countKept({ stateDir }: Pick<Scene, 'stateDir'>): number {
  const database = new DatabaseSync(join(stateDir, 'stages.sqlite'), { readOnly: true });
  try {
    return Number(database.prepare('SELECT count(*) AS count FROM results').get()?.count);
  } finally {
    database.close();
  }
}

test('a job that reuses a stage says so, and has its usual price', async () => {
  const scene = await startSharing();
  const [first, second] = [await run(scene, 'hello'), await run(scene, 'hello')];
  expect(scene.translated).toEqual(['hello']);
  expect(second.result.lines).toEqual(first.result.lines);
  const use = { step: 'translate', engine: 'apertium', skipped: [] };
  expect((await scene.service.readProvenance(first.id))?.engines).toEqual([use]);
  expect((await scene.service.readProvenance(second.id))?.engines).toEqual([{ ...use, reused: true }]);
  expect(second.billing).toEqual(first.billing);
});

test('another key of the service does not get the stages of the first', async () => {
  const scene = await startSharing();
  await run(scene, 'hello');
  const caller = scene.callerFor(await scene.service.issueKey());
  await run({ caller }, 'hello');
  expect(scene.translated).toEqual(['hello', 'hello']);
});

test('stages are kept for seven days, like the job that they come from', async () => {
  const scene = await startSharing();
  await run(scene, 'hello');
  expect(countKept(scene)).toBe(1);
  scene.clock.advance(7 * DAY_MS);
  await until(async () => (await countKept(scene)) === 0);
  await run(scene, 'hello');
  expect(scene.translated).toEqual(['hello', 'hello']);
});

test('a service that keeps no stages computes each', async () => {
  const scene = await startSharing({ config: { stageCacheBytes: 0 } });
  await run(scene, 'hello');
  await run(scene, 'hello');
  expect(scene.translated).toEqual(['hello', 'hello']);
  expect(await readdir(scene.stateDir)).not.toContain('stages.sqlite');
});

test('a job that waits for a stage frees its slot for another job, and takes one again', async () => {
  const scene = await startSharing({ config: { workers: 2 } });
  const open = scene.hold();
  const [first, second] = [await create(scene, 'hello'), await create(scene, 'hello')];
  await until(() => scene.translated.length === 1);
  // Both places are taken: one computes, one waits.
  const other = await untilJob(scene.caller, await create(scene, 'other', 'dubbings'), 'succeeded');
  expect(other.status).toBe('succeeded');
  open();
  for (const job of [first, second]) await untilJob(scene.caller, job, 'succeeded');
  expect(scene.translated).toEqual(['hello']);
});

test('a cancelled job leaves the stage to the job that waits for it', async () => {
  const { scene, open, first, second } = await startTwoOfOneStage();
  expect((await scene.caller.delete(first.detail_url)).json.status).toBe('cancelled');
  open();
  expect((await untilJob(scene.caller, second, 'succeeded', 'failed')).status).toBe('succeeded');
});

test('a sweep leaves the files of a cancelled job that are read for the job that waits', async () => {
  const { scene, open, first, second } = await startTwoOfOneStage();
  await scene.caller.delete(first.detail_url);
  // When files that nobody uses are gone for the second time, the first sweep is over.
  const left = join(scene.stateDir, 'work', `${first.id}-died`);
  for (const sweep of [1, 2]) {
    await mkdir(left);
    scene.clock.advance(60_000);
    await until(async () => !(await readdir(join(scene.stateDir, 'work'))).includes(`${first.id}-died`));
    expect(scene.translated, `after sweep ${sweep}`).toEqual(['hello']);
  }
  open();
  expect((await untilJob(scene.caller, second, 'succeeded', 'failed')).status).toBe('succeeded');
  expect(scene.translated).toEqual(['hello']);
});

test('a disk that is full of stages is emptied, and the job is tried again', async () => {
  const scene = await startSharing();
  await run(scene, 'hello');
  const full = () => new JobFailure('STORAGE_ERROR', 'full', { cause: new Error('ENOSPC') });
  scene.small.failNext(full());
  const end = async (name: string) => {
    const job = await create(scene, name, 'dubbings');
    return until(
      async () => {
        scene.clock.advance(1000);
        return (await scene.caller.get(job.detail_url)).json;
      },
      ({ status }) => status === 'succeeded' || status === 'failed',
    );
  };
  expect((await end('other')).status).toBe('succeeded');
  expect(countKept(scene)).toBe(0);
  // With nothing left to remove, the job does not fit.
  scene.small.failNext(full(), full(), full());
  const last = await end('last');
  expect(last.error).toMatchObject({ code: 'STORAGE_ERROR' });
});
