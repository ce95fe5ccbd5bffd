import { mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keptResult } from '../../../src/batch/inputs/items.ts';
import { nameWork } from '../../../src/batch/kept-tracks.ts';
import type { BatchPlan } from '../../../src/batch/plan/batch-plan.ts';
import { forecastPlan } from '../../../src/batch/plan/dry-run.ts';
import {
  type AttemptState,
  createAttempt,
  type DownloadedRecord,
} from '../../../src/batch/records/attempts.ts';
import type { BatchRecord } from '../../../src/batch/records/batch-records.ts';
import { createItemFacts } from '../../../src/batch/records/item-facts.ts';
import { createFolder, createHistory, type History, MP4, NOW, plan, problemsOf } from './support.ts';

const HOUR_MS = 3_600_000;
const SHA = 'a'.repeat(64);
const key = 'key-1';
const at = (hoursAgo: number) => new Date(NOW - hoursAgo * HOUR_MS).toISOString();

/** What a run writes before its paid call. */
function asked(planned: Pick<BatchPlan, 'planned'>, hoursAgo = 1): BatchRecord[] {
  return planned.planned.flatMap(({ item }): BatchRecord[] => [
    createItemFacts(item, SHA),
    createAttempt({
      key,
      asked_at: at(hoursAgo),
      kind: item.kind,
      item: item.key,
      body_sha256: SHA,
      request: { ...item.fields, source: { type: 'upload', upload_id: 'upl_1' } },
      input_sha256: SHA,
      is_free: false,
    }),
  ]);
}

const accepted = (hoursAgo = 1) =>
  ({ type: 'changed', key, state: 'accepted', accepted_at: at(hoursAgo), job_id: 'loc_1' }) as const;
const finished = (state: AttemptState, retryable: boolean | null = null): BatchRecord => ({
  type: 'changed',
  key,
  state,
  finished_at: at(1),
  job_id: 'loc_1',
  ...(retryable === null ? {} : { error: 'ENGINE_ERROR', message: 'broke', retryable }),
});
const downloaded = (path: string, size: number, hoursAgo = 1): DownloadedRecord => ({
  type: 'downloaded',
  key,
  at: at(hoursAgo),
  job_id: 'loc_1',
  files: [{ path, sha256: SHA, size }],
});

/** A folder with one video, what its journal says after some records, and how to plan again. */
async function afterRun(records: (result: string) => readonly BatchRecord[], hoursAgo = 1) {
  const cwd = createFolder({ 'a.mp4': MP4 });
  const result = join(cwd, 'a.ca.mp4');
  const before = asked(await plan(cwd, ['a.mp4']), hoursAgo);
  const again = (options: Record<string, unknown> = {}, choices: Partial<History['choices']> = {}) =>
    plan(cwd, ['a.mp4'], { options, history: createHistory([...before, ...records(result)], choices) });
  const step = async (...how: Parameters<typeof again>) => (await again(...how)).planned[0]?.decision;
  return { cwd, result, again, step };
}

describe('an item of an earlier run', () => {
  it('whose result is another than that of its language in one file is fetched again, in either order', async () => {
    const cwd = createFolder({ 'a.mp4': MP4 });
    const oneFile = { to: ['ca'], oneFile: true };
    const alone = { to: ['ca'], soundOnly: true };
    const orders = [
      { first: oneFile, path: join(cwd, '.vloc/languages/a.ca.mp4'), next: alone },
      { first: alone, path: join(cwd, 'a.ca.m4a'), next: oneFile },
    ];
    for (const { first, path, next } of orders) {
      const [planned] = (await plan(cwd, ['a.mp4'], { options: first })).planned;
      if (planned === undefined) throw new Error('there is no item');
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'mp4');
      const { files, ...rest } = downloaded(path, 3);
      const kept = nameWork(keptResult(planned.item));
      const delivered = { ...rest, files: files.map((file) => ({ ...file, kept })) };
      const history = createHistory([...asked({ planned: [planned] }), delivered]);
      const [again] = (await plan(cwd, ['a.mp4'], { options: next, history })).planned;
      expect(again?.decision).toEqual({ step: 'continue', next: { step: 'download', key, jobId: 'loc_1' } });
    }
  });

  it('continues where it stopped', async () => {
    const running = await afterRun(() => [accepted()]);
    expect(await running.step()).toEqual({ step: 'continue', next: { step: 'attach', key, jobId: 'loc_1' } });
    const done = await afterRun(() => [accepted(), finished('succeeded')]);
    expect(await done.step()).toEqual({ step: 'continue', next: { step: 'download', key, jobId: 'loc_1' } });
  });

  it('with its result on the disk is done', async () => {
    const { result, again, step } = await afterRun((path) => [downloaded(path, 4)]);
    writeFileSync(result, 'good');
    expect(await step()).toMatchObject({ step: 'done', before: 'downloaded', jobId: 'loc_1' });
    expect(await step({ clobber: true }, { replace: true })).toMatchObject({ step: 'done' });
    const { planned } = await again();
    expect(forecastPlan('auto_localization', planned, { price: () => 1, balance: null })).toMatchObject({
      jobs: 0,
      credits: 0,
    });
  });

  it('whose result was deleted is fetched again while the service still has it', async () => {
    const lately = await afterRun((path) => [downloaded(path, 4)]);
    expect(await lately.step()).toEqual({
      step: 'continue',
      next: { step: 'download', key, jobId: 'loc_1' },
    });
    const long = await afterRun((path) => [downloaded(path, 4, 24 * 7)], 24 * 7 + 1);
    expect(await long.step()).toEqual({ step: 'expired', jobId: 'loc_1', key: 'key-1' });
  });

  it('whose result was changed since is not overwritten silently', async () => {
    const { result, again, step } = await afterRun((path) => [downloaded(path, 4)]);
    writeFileSync(result, 'edited by hand');
    expect(await problemsOf(again())).toEqual([
      expect.stringMatching(/the result .*a\.ca\.mp4 was changed since it was fetched.*--clobber/),
    ]);
    expect(await step({ clobber: true }, { replace: true })).toMatchObject({ next: { step: 'download' } });
    expect(await step({ skipExisting: true })).toMatchObject({ step: 'done', before: 'exists' });
  });

  it('that failed permanently is not run again, unless requested', async () => {
    const { step } = await afterRun(() => [finished('failed', false)]);
    expect(await step()).toEqual({ step: 'failed', jobId: 'loc_1', code: 'ENGINE_ERROR', message: 'broke' });
    expect(await step({}, { retryFailed: true })).toMatchObject({ step: 'new', after: { reason: 'failed' } });
    expect(await step({ voiceMode: 'male' })).toMatchObject({ step: 'new' });
  });

  it.each([
    ['failed temporarily', finished('failed', true)],
    ['was cancelled', finished('cancelled')],
  ])('that %s is created again', async (_why, record) => {
    const { step } = await afterRun(() => [record]);
    expect(await step()).toMatchObject({ step: 'new', after: expect.anything() });
  });

  it('is ignored with --fresh', async () => {
    const { step } = await afterRun(() => [accepted()]);
    expect(await step({}, { fresh: true })).toEqual({ step: 'new', after: null });
  });
});

describe('an item whose result has other original tracks than requested', () => {
  const withAudio = { keepAudio: true };

  it('is a problem, and with --clobber the result of the same job is fetched again', async () => {
    const { result, again, step } = await afterRun((path) => [accepted(), downloaded(path, 4)]);
    writeFileSync(result, 'done');
    expect(await step()).toMatchObject({ step: 'done' });
    expect(await problemsOf(again(withAudio))).toEqual([
      expect.stringMatching(
        /written with other options: none → audio.*--clobber fetches the result of the same job again/,
      ),
    ]);
    const replacing = await step({ ...withAudio, clobber: true }, { replace: true });
    expect(replacing).toMatchObject({ step: 'continue', next: { step: 'download', jobId: 'loc_1' } });
    const kept = await step({ ...withAudio, skipExisting: true });
    expect(kept).toMatchObject({ step: 'done', before: 'exists' });
  });

  it('is done if the result has them', async () => {
    const { result, step } = await afterRun((path) => {
      const { files, ...rest } = downloaded(path, 4);
      return [accepted(), { ...rest, files: files.map((file) => ({ ...file, kept: 'audio' })) }];
    });
    writeFileSync(result, 'done');
    expect(await step(withAudio)).toMatchObject({ step: 'done', before: 'downloaded' });
  });
});

describe('an item that has changed', () => {
  it('in its options is a problem, and a new job only with --clobber', async () => {
    const { again, step } = await afterRun(() => [accepted()]);
    expect(await problemsOf(again({ voiceMode: 'male' }))).toEqual([
      'a.mp4 → ca: its job was made with other options: --voice-mode auto → male. To keep the result, run it with the earlier options or with --skip-existing; --clobber makes a new job that replaces it (its price: --clobber --dry-run), --out chooses another folder.',
    ]);
    expect(await step({ voiceMode: 'male', clobber: true }, { replace: true })).toEqual({
      step: 'new',
      after: null,
    });
    expect(await step({ voiceMode: 'auto', clientReference: 'x' })).toMatchObject({ step: 'continue' });
  });

  it('in its size is a problem, and the file is not read', async () => {
    const { cwd, again } = await afterRun(() => [accepted()]);
    writeFileSync(join(cwd, 'a.mp4'), Buffer.concat([MP4, MP4]));
    expect(await problemsOf(again())).toEqual([
      expect.stringContaining(
        'its input changed since the job was made: 16 → 32 bytes, the result of that job',
      ),
    ]);
  });

  it('only in its time is judged by its content', async () => {
    const { cwd, again, step } = await afterRun(() => [accepted()]);
    const path = join(cwd, 'a.mp4');
    const { mtimeMs } = statSync(path);
    utimesSync(path, new Date(mtimeMs), new Date(mtimeMs + HOUR_MS));
    expect(await step({}, { hashFile: async () => SHA })).toMatchObject({ step: 'continue' });
    const other = again({}, { hashFile: async () => 'b'.repeat(64) });
    expect(await problemsOf(other)).toEqual([expect.stringContaining('other content of the same size')]);
  });

  it('is found by the attempt alone if the facts are lost', async () => {
    const cwd = createFolder({ 'a.mp4': MP4 });
    const records = [...asked(await plan(cwd, ['a.mp4'])), accepted()].filter(
      ({ type }) => type !== 'item_facts',
    );
    const again = (options: object) =>
      plan(cwd, ['a.mp4'], { options: { ...options }, history: createHistory(records) });
    expect((await again({})).planned[0]?.decision).toMatchObject({ next: { step: 'attach' } });
    expect(await problemsOf(again({ resolution: '480p' }))).toEqual([
      expect.stringContaining('source → 480p'),
    ]);
  });
});

it('results of earlier runs in the input folder are not inputs', async () => {
  const cwd = createFolder({ 'a.mp4': MP4, 'a.es.mp4': MP4 });
  const records = [
    ...asked(await plan(cwd, ['a.mp4'], { options: { to: ['es'], clobber: true } })),
    downloaded(join(cwd, 'a.es.mp4'), MP4.length),
  ];
  const { planned } = await plan(cwd, ['.'], { options: { to: ['fr'] }, history: createHistory(records) });
  expect(planned.map(({ item }) => item.label)).toEqual(['a.mp4 → fr']);
});

it('an item with another audio track than before is a problem', async () => {
  const cwd = createFolder({ 'a.mp4': MP4 });
  const planTrack = (track: number, history = createHistory()) => {
    const preparation = { conversion: 'remuxed', reasons: [], track, parts: 1, minutes: null } as const;
    const examineVideo = async () => ({ type: 'usable', seconds: 61, preparation }) as const;
    return plan(cwd, ['a.mp4'], { io: { examineVideo }, history });
  };
  const history = createHistory([...asked(await planTrack(2)), accepted()]);
  expect((await planTrack(2, history)).planned[0]?.decision).toMatchObject({ step: 'continue' });
  expect(await problemsOf(planTrack(1, history))).toEqual([expect.stringContaining('audio track 2 → 1')]);
});

it('to state the language that a job has found is no change, and another one names what was found', async () => {
  const cwd = createFolder({ 'a.mp4': MP4 });
  const planOf = (
    kind: 'subtitle_recognition' | 'auto_localization',
    from?: string,
    history = createHistory(),
  ) =>
    plan(cwd, ['a.mp4'], {
      kind,
      options: { from, ...(kind === 'subtitle_recognition' ? { to: undefined } : {}) },
      history,
    });
  const again = async (kind: 'subtitle_recognition' | 'auto_localization', from: string) => {
    const ended = { ...downloaded(join(cwd, 'a.srt'), 4), language: 'en' };
    const history = createHistory([...asked(await planOf(kind)), accepted(), ended]);
    return planOf(kind, from, history);
  };
  const { planned } = await again('subtitle_recognition', 'en');
  expect(planned[0]?.decision).toMatchObject({ step: 'continue', next: { step: 'download' } });
  expect(await problemsOf(again('subtitle_recognition', 'en-GB'))).toEqual([
    expect.stringContaining('other options: --from auto (en was found) → en-GB. To keep the result'),
  ]);
  expect(await problemsOf(again('auto_localization', 'en'))).toEqual([
    expect.stringContaining('other options: --from auto (the service does not say what it found) → en.'),
  ]);
});

it('a copy of a video without sound stays while its file does, and is made again if it is gone or its file is another', async () => {
  const cwd = createFolder({ 'a.mp4': MP4 });
  const result = join(cwd, 'a.ca.mp4');
  const examineVideo = async () =>
    ({ type: 'usable', seconds: 1, preparation: null, isSilent: true }) as const;
  const copy = { options: { passThrough: true, clobber: true }, io: { examineVideo } };
  const before = asked(await plan(cwd, ['a.mp4'], copy));
  const history = createHistory([...before, downloaded(result, 4)], { replace: true });
  const step = async () => (await plan(cwd, ['a.mp4'], { ...copy, history })).planned[0]?.decision;
  expect(await step()).toMatchObject({ step: 'new' });
  writeFileSync(result, 'good');
  expect(await step()).toMatchObject({ step: 'done' });
  writeFileSync(join(cwd, 'a.mp4'), Buffer.concat([MP4, MP4]));
  expect(await step()).toMatchObject({ step: 'new' });
});
