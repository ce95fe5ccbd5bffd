/** Whether the file with all languages of a video has to be made again. */
import { rm, stat, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { BatchItem } from '../../../src/batch/item.ts';
import type { Choices, Decision } from '../../../src/batch/plan/decision.ts';
import { decideGathered } from '../../../src/batch/plan/gathered.ts';
import { recordedIn } from '../../../src/batch/run/open-batch.ts';
import { attemptOf, openBench, videoItem } from '../recipes/support/bench.ts';

/** The file of Spanish and French, which was made, and what is decided about it in the next run. */
async function openMade() {
  const { run, write, carryOut } = await openBench();
  const { journal } = run;
  const source = await write('talk.mp4', 'talk');
  // Its sound is added only as long as it is the same file.
  const { size: bytes, mtimeMs } = await stat(source);
  const video = videoItem({ path: source, bytes, mtimeMs });
  async function deliver(language: string, text: string) {
    const path = await write(`${language}.mp4`, text);
    const files = [{ path, sha256: text, size: text.length }];
    await journal.add(attemptOf(text, { kind: 'auto_localization', key: language }), {
      ...{ type: 'downloaded', key: text, at: '2026-11-01T00:00:00.000Z', files },
    });
    return { ...video, key: language, targetLanguage: language };
  }
  const languages = [await deliver('es', 'Spanish'), await deliver('fr', 'French')];
  const whole: BatchItem = { ...video, targetLanguage: 'mul', keep: 'audio' };
  const item = { ...whole, gathers: languages };
  const { made } = await carryOut(item);
  return {
    ...{ item, deliver, path: made.files[0]?.path ?? '' },
    async decide(asked: Partial<BatchItem> = {}, choices: Partial<Choices> = {}, french: Decision = DONE) {
      const decisions = new Map([['fr', french]]);
      const all = { fresh: false, replace: false, ...choices };
      return (await decideGathered({ ...item, ...asked }, decisions, recordedIn(journal), all)).step;
    },
  };
}

const DONE: Decision = { step: 'done', before: 'downloaded', jobId: 'job', files: [] };

it('it is done if it was made of the same results, and only then', async () => {
  const { item, decide, deliver } = await openMade();
  expect(await decide()).toBe('done');
  expect(await decide({ gathers: item.gathers.toReversed() })).toBe('new');
  expect(await decide({ gathers: item.gathers.slice(1) })).toBe('new');
  expect(await decide({ startsWithOriginal: true })).toBe('new');
  expect(await decide({ mark: false })).toBe('new');
  await deliver('es', 'better Spanish');
  expect(await decide()).toBe('new');
});

it.each<[Decision, string]>([
  [{ step: 'new', after: null }, 'new'],
  [{ step: 'expired', jobId: 'job', key: 'key' }, 'new'],
  // It was made with French, which is missing now.
  [{ step: 'failed', jobId: 'job', code: 'BROKEN', message: 'broke' }, 'new'],
])('it is made again with a language that is made again or is gone: %j', async (french, step) => {
  const { decide } = await openMade();
  expect(await decide({}, {}, french)).toBe(step);
});

it('it is made again if it is lost or asked for, but not if the user has edited it', async () => {
  const { decide, path } = await openMade();
  expect(await decide({}, { fresh: true })).toBe('new');
  await writeFile(path, 'edited by hand');
  expect(await decide()).toBe('edited');
  expect(await decide({}, { replace: true })).toBe('new');
  await rm(path);
  expect(await decide()).toBe('new');
  expect(await decide({}, { skipDone: true })).toBe('done');
});
