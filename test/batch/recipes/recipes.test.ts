/** What each recipe makes, of which jobs and which work on this machine. */
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BatchItem } from '../../../src/batch/item.ts';
import type { Redub } from '../../../src/batch/plan/redub.ts';
import { isSent, linesToSend } from '../../../src/batch/recipes/translation.ts';
import {
  type AttemptState,
  type Attempts,
  gatherAttempts,
  STATE_RANKS,
} from '../../../src/batch/records/attempts.ts';
import { digestLinesMaking, partKey } from '../../../src/batch/records/item-key.ts';
import { keepTrack, keptTrack } from '../../../src/batch/records/kept-dubs.ts';
import { recordFolder } from '../../../src/batch/records/record-folder.ts';
import { openMemory } from '../../../src/batch/records/translation-memory.ts';
import { type KnownTexts, readRecalls, recallKey } from '../../../src/batch/run/recall.ts';
import type { JobStep } from '../../../src/batch/run/step.ts';
import { formatSrt } from '../../../src/protocol/srt.ts';
import { attemptOf, linesItem, linesOf, MASKS, openBench, videoItem } from './support/bench.ts';

it('a video without sound is copied, which costs nothing, and again when it has changed', async () => {
  const { carryOut, write } = await openBench();
  const item = videoItem({ isSilent: true, path: await write('talk.mp4', 'a silent video') });
  const { made, files, steps } = await carryOut(item);
  expect([steps, files]).toEqual([['copy'], { 'talk.es.mp4': 'a silent video' }]);
  expect(made).toMatchObject({ jobId: null, credits: 0, files: [{ asset: 'video' }] });
  expect(made).not.toHaveProperty('provenance');
  await write('talk.mp4', 'another one');
  expect((await carryOut(item)).files).toEqual({ 'talk.es.mp4': 'another one' });
});

describe('a file with all languages', () => {
  /** A bench with the results of two languages, and the file of both. */
  async function openLanguages(more: Partial<BatchItem> = {}) {
    const bench = await openBench();
    const input = { path: await bench.write('talk.mp4', 'talk') };
    const languages = ['es', 'fr'].map((language) => ({
      ...videoItem(input),
      key: language,
      targetLanguage: language,
    }));
    const paths: string[] = [];
    for (const { key } of languages) {
      const path = await bench.write(`${key}.mp4`, `video ${key}`);
      paths.push(path);
      await bench.run.journal.add(attemptOf(key, { kind: 'auto_localization', key }), {
        type: 'downloaded',
        key,
        at: '2026-11-01T00:00:00.000Z',
        files: [{ path, sha256: 'a', size: 8 }],
      });
    }
    const item = { ...videoItem(input), targetLanguage: null, gathers: languages, ...more };
    return {
      ...bench,
      item,
      videos: paths.map((path, at) => ({ path, sha256: 'a', language: languages[at]?.key })),
    };
  }

  it('is put together of those that are there', async () => {
    const { carryOut, item, videos, asked } = await openLanguages();
    const { made, files, steps } = await carryOut(item);
    expect([steps, Object.values(files)]).toEqual([['gather'], ['finished']]);
    expect(made).toMatchObject({ jobId: null, credits: 0, files: [{ asset: 'video' }] });
    expect(asked[0]).toEqual({ videos, isOneSound: false });
  });

  it('has one sound if only its subtitles are translated', async () => {
    const { carryOut, item, videos, asked } = await openLanguages({ fields: { mode: 'subtitles_only' } });
    await carryOut(item);
    expect(asked[0]).toEqual({ videos, isOneSound: true });
  });

  it('has its sound beside it, of the first language', async () => {
    const { carryOut, item, videos, asked } = await openLanguages({
      sound: { format: 'mp3', extension: '.mp3' },
    });
    await carryOut(item);
    expect(asked).toEqual([{ video: videos[0]?.path }]);
  });

  it('cannot be made without any, until they are made', async () => {
    const { carryOut, item } = await openLanguages({ gathers: [] });
    await expect(carryOut(item)).rejects.toMatchObject({
      message: 'no language of it has a result',
      facts: {
        category: 'job',
        code: 'NO_LANGUAGE',
        retryable: true,
        advice: expect.stringContaining('makes the languages first'),
      },
    });
  });
});

describe('an item in parts', () => {
  it('is joined of the results of its parts at their times, which are paid together', async () => {
    const voice = { speaker: 'Ana', mode: 'female' };
    const parts = [
      { lines: linesOf('a'), offsetMs: 500, voice },
      { lines: linesOf('b', 'c'), offsetMs: 2000, voice: { speaker: null, mode: null } },
    ];
    const { carryOut, asked, jobs, folder } = await openBench();
    const item = linesItem('dubbing', ['a', 'b', 'c'], { parts });
    const { steps, made, files } = await carryOut(item);
    expect([steps, files]).toEqual([
      ['job 1', 'job 2', 'join < job 1, job 2'],
      { 'talk.es.wav': 'joined dub' },
    ]);
    const digest = digestLinesMaking(item.input.sha256, item, [500, 2000]);
    expect(jobs.map(({ id, group }) => [id, group])).toEqual(
      [1, 2].map((part) => [partKey(item.key, { part, of: 2, made: digest }), 'parts']),
    );
    const dubs = ['job_1', 'job_2'].map((job) => ({ dub: join(folder, `${job}.audio`) }));
    const whole = { type: 'lines', offsetsMs: [500, 2000], endMs: 5000 };
    expect(asked).toEqual([{ kind: 'dubbing', parts: dubs, whole }]);
    expect(made).toMatchObject({ jobId: 'job_1', credits: 3 });
  });

  async function openVideo() {
    const bench = await openBench({
      preparation: {
        async prepare(_, __, { folder }) {
          const files = ['1.mp4', '2.mp4'].map((name) => ({
            path: join(folder, name),
            bytes: 4,
            sha256: 'a',
            seconds: 5,
          }));
          for (const { path } of files) await writeFile(path, 'part');
          return { files, split: [4.5] };
        },
      },
    });
    const preparation = { conversion: null, reasons: [], track: 1, parts: 2, minutes: 1 };
    const item = videoItem({ preparation, path: await bench.write('talk.mp4', 'a long video') });
    const carried = await bench.carryOut(item);
    const inputs = bench.jobs.flatMap(({ part: { input } }) => (input.type === 'file' ? input : []));
    return { ...bench, ...carried, item, inputs, isThere: () => inputs.map(({ path }) => existsSync(path)) };
  }

  it('is cut, if it is a video, and joined with the sound and picture of the whole', async () => {
    const { steps, files, asked, folder, item } = await openVideo();
    expect(steps).toEqual(['cut', 'job 1 < cut', 'job 2 < cut', 'join < job 1, job 2']);
    expect(files).toEqual({ 'talk.es.mp4': 'finished' });
    const videos = ['job_1', 'job_2'].map((job) => ({ video: join(folder, `${job}.video`) }));
    const whole = { type: 'video', split: [4.5], source: item.input.path };
    expect(asked[0]).toEqual({ kind: 'auto_localization', parts: videos, whole });
  });

  it('keeps the parts of a video until all are sent', async () => {
    const {
      inputs: [first, second],
      isThere,
    } = await openVideo();
    for (const _ of 'twice') first?.made?.use();
    expect(isThere()).toEqual([true, true]);
    second?.made?.use();
    expect(isThere()).toEqual([false, false]);
  });

  it('leaves no parts of a video at its end, whether they were sent or not', async () => {
    const { cleanUps, isThere } = await openVideo();
    for (const cleanUp of cleanUps) cleanUp();
    expect(isThere()).toEqual([false, false]);
  });
});

describe('a translation', () => {
  const TALK = ['Hello.', 'Bye.', 'Gone.'];
  const item = linesItem('subtitle_translation', TALK);

  /** A memory with translations of sentences. */
  async function memoryOf(known: Readonly<Record<string, string>>) {
    const store = await openMemory(join((await openBench()).folder, 'memory.db'), { now: Date.now });
    onTestFinished(() => store.close());
    const where = { from: 'auto', to: 'es', origin: 'service', before: '*', after: '*', terms: '' };
    await store.add(
      Object.entries(known).map(([source, target]) => ({
        ...where,
        source: [source],
        target: [target],
        at: '2026-11-01T00:00:00.000Z',
      })),
    );
    return { store, origin: 'service', used: { lines: 0, known: 0 } };
  }

  /** For each job its part of all, and its numbered lines. */
  const sentIn = ({ jobs }: { readonly jobs: readonly JobStep[] }) =>
    jobs.map(({ part: { input, part } }) => [
      `${part?.number} of ${part?.count}`,
      ...(input.type === 'lines' ? input.lines.map(({ index, text }) => `${index} ${text}`) : []),
    ]);

  it('is put together of what is remembered and of what was sent, at the times of its source', async () => {
    const memory = await memoryOf({ 'Hello.': 'Hola.' });
    const bench = await openBench({
      batch: { memory },
      say: (text) => (text === 'Bye.' ? 'Adiós.' : undefined),
    });
    const { steps, made, files } = await bench.carryOut(item);
    expect(steps).toEqual(['recall', 'job 1 < recall', 'restore < job 1', 'merge < restore']);
    expect(sentIn(bench)).toEqual([['1 of 1', '1 Bye.', '2 Gone.']]);
    expect(files).toEqual({ 'talk.es.srt': formatSrt(linesOf('Hola.', 'Adiós.')) });
    expect(made).toMatchObject({ jobId: 'job_1', credits: 1, files: [{ asset: 'subtitle' }] });
    expect(memory.used).toEqual({ lines: 3, known: 1 });
  });

  it('that is remembered has no job', async () => {
    const memory = await memoryOf({ 'Hello.': 'Hola.', 'Bye.': 'Adiós.', 'Gone.': 'Ido.' });
    const { carryOut, jobs } = await openBench({ batch: { memory } });
    const { steps, made, files } = await carryOut(item);
    expect([steps, jobs]).toEqual([['restore', 'merge < restore'], []]);
    expect(files).toEqual({ 'talk.es.srt': formatSrt(linesOf('Hola.', 'Adiós.', 'Ido.')) });
    expect(made).toMatchObject({ jobId: null, credits: 0 });
    expect(memory.used).toEqual({ lines: 3, known: 3 });
  });

  it('sends the same lines after a run that was stopped, until its result is made', async () => {
    const memory = await memoryOf({ 'Hello.': 'Hola.' });
    let isStopped = true;
    const bench = await openBench({
      batch: { memory },
      say: (text) => {
        if (isStopped) throw new Error('stopped');
        return text;
      },
    });
    const { run, carryOut } = bench;
    const recalls = () =>
      [readRecalls(run.journal.prepared), run.recalled.recorded].map((all) => all.get(recallKey(item)));
    const texts = ['Hola.', null, null];
    await expect(carryOut(item)).rejects.toThrow('stopped');
    expect(recalls()).toEqual([
      { texts, isDone: false },
      { texts, isDone: false },
    ]);
    await memory.store.add([
      { ...(memory.store.list()[0] ?? expect.fail()), source: ['Bye.'], target: ['Adiós.'] },
    ]);
    isStopped = false;
    await carryOut(item);
    expect(sentIn(bench)).toEqual([
      ['1 of 1', '1 Bye.', '2 Gone.'],
      ['1 of 1', '1 Bye.', '2 Gone.'],
    ]);
    expect(recalls()).toEqual([
      { texts, isDone: true },
      { texts, isDone: true },
    ]);
  });

  it('with placeholders sends plain cues again that lost theirs or did not come back', async () => {
    const words: Record<string, string> = {
      '{T1} one.': '{T1} uno.',
      '{T2} three.': 'tres.',
      'Acme three.': 'Acme tres.',
      'Two.': 'Dos.',
    };
    let count = 0;
    const bench = await openBench({
      batch: MASKS,
      say: (text) => (text === 'Two.' && count++ === 0 ? undefined : words[text]),
    });
    const own = linesItem('subtitle_translation', ['Acme one.', 'Two.', 'Acme three.', 'Acme four.']);
    const { steps, made, files } = await bench.carryOut(own);
    expect(steps).toEqual([
      ...['recall', 'job 1 < recall', 'restore < job 1', 'job 2 < recall', 'merge < restore, job 2'],
    ]);
    expect(sentIn(bench)).toEqual([
      ['1 of 2', '1 {T1} one.', '2 Two.', '3 {T2} three.', '4 {T3} four.'],
      ['2 of 2', '1 Two.', '2 Acme three.', '3 Acme four.'],
    ]);
    expect(files).toEqual({ 'talk.es.srt': formatSrt(linesOf('Acme uno.', 'Dos.', 'Acme tres.')) });
    expect(made).toMatchObject({ jobId: 'job_1', credits: 3 });
    expect(readRecalls(bench.run.journal.prepared).size).toBe(0);
  });

  it('with placeholders that all come back has one job', async () => {
    const bench = await openBench({ batch: MASKS, say: (text) => text.replace('one', 'uno') });
    const { files } = await bench.carryOut(linesItem('subtitle_translation', ['Acme one.']));
    expect(sentIn(bench)).toEqual([['1 of 2', '1 {T1} one.']]);
    expect(files).toEqual({ 'talk.es.srt': formatSrt(linesOf('Acme uno.')) });
  });

  it('costs nothing more while its job is there', async () => {
    const { carryOut, run } = await openBench({ batch: { memory: await memoryOf({ 'Hello.': 'Hola.' }) } });
    const { journal, batch } = run;
    const isSentWith = (attempts: Attempts, known: KnownTexts = ['Hola.', null, null]) =>
      isSent(batch.delivery, item, linesToSend(item, item.input, known, undefined), attempts);
    expect(isSentWith(journal.attempts)).toBe(false);
    await carryOut(item);
    expect(isSentWith(journal.attempts, [null, null, null])).toBe(false);
    const all = [...journal.attempts.byKey.values()];
    // The keys of the table.
    const states = Object.keys(STATE_RANKS) as AttemptState[];
    const sent = states.filter((state) =>
      isSentWith(gatherAttempts(all.map((each) => ({ ...each, state })))),
    );
    expect(sent).toEqual(['asked', 'accepted', 'succeeded', 'downloaded']);
  });
});

describe('a dub of edited subtitles', () => {
  const item = linesItem('dubbing', ['a', 'b', 'c']);
  const cue = (number: number) =>
    ({ cues: [number], fit: 'speed', speed: 1.2, tempo: 1, cut_seconds: 0 }) as const;
  const places = [{ startMs: 2000, endMs: 4000, spoken: [[2000, 3000]] }] as const;
  const units = { unit: 'started_thousand_characters', quantity: 1 } as const;
  const engine = (name: string) => ({ step: 'speak', engine: name, skipped: [] }) as const;

  /** A bench with an earlier dub, whose track is beside the results, or was kept by a run that was stopped. */
  async function openDub({ difference, isKept = false }: { difference?: string; isKept?: boolean } = {}) {
    const bench = await openBench(
      difference === undefined
        ? {}
        : { preparation: { patch: async ({ track }) => ({ path: track, difference }) } },
    );
    const {
      run: { journal },
      folder,
      write,
    } = bench;
    const delivered = await write('dub.wav', 'earlier track');
    const records = recordFolder({ folder: join(folder, 'out') });
    const kept = keptTrack(records, item.key);
    if (isKept) await keepTrack(records, item.key, delivered);
    const provenance = { engines: [engine('before')], cues: [cue(1), cue(2), cue(3)] };
    await journal.add(attemptOf('base', item), { type: 'made', key: 'base', provenance });
    const redub: Redub = {
      ...{ source: 'c', isBegun: false, total: 3, units, places, from: isKept ? kept : delivered },
      ...{
        lines: linesOf('b', 'c'),
        numbers: [2, null],
        kept: [
          [1, 1],
          [3, 2],
        ],
      },
      track: { path: delivered, sha256: 'd', size: 1 },
      base: { key: 'base', jobId: 'job_0', sha256: 'e' },
    };
    const carryOut = (changes: Partial<Redub> = {}, own: BatchItem = item) =>
      bench.carryOut(own, { step: 'new', after: null, redub: { ...redub, ...changes } });
    return { ...bench, carryOut, kept };
  }

  it.each([false, true])(
    'is put into a copy of the earlier track, also one that was kept: %s',
    async (isKept) => {
      const { carryOut, jobs, asked, folder, kept } = await openDub({ isKept });
      const { steps, made, files } = await carryOut();
      expect(steps).toEqual(['keep', 'job 1 < keep', 'patch < keep, job 1']);
      // As a later run finds it.
      const id = partKey(item.key, { part: 1, of: 1, made: digestLinesMaking('c', item, [0]) });
      const sha256 = jobs[0]?.part.part?.sha256;
      expect([jobs.map((job) => [job.id, job.numbers]), sha256]).toEqual([
        [[id, [2, null]]],
        item.input.sha256,
      ]);
      const piece = join(folder, 'job_1.audio');
      expect(asked).toEqual([{ track: kept, heard: 'earlier track', piece, places, isCompared: true }]);
      expect(files).toEqual({ 'talk.es.wav': 'patched' });
      const provenance = { engines: [engine('before'), engine('job_1')], cues: [cue(1), cue(2)] };
      expect(made).toMatchObject({ jobId: 'job_1', credits: 1, provenance });
      expect(existsSync(kept)).toBe(false);
    },
  );

  it('of which cues were only removed has the job of the earlier one, and no voice to compare', async () => {
    const { carryOut, asked, jobs } = await openDub();
    const { made } = await carryOut({ lines: [], numbers: [], kept: [] });
    expect(jobs).toEqual([]);
    expect(asked).toMatchObject([{ piece: null, isCompared: false }]);
    expect(made).toMatchObject({
      jobId: 'job_0',
      credits: 0,
      provenance: { engines: [engine('before')], cues: [] },
    });
  });

  it('in another voice fails with what all of it would cost, and leaves the earlier track', async () => {
    const { carryOut, kept } = await openDub({ difference: 'the new ones are deeper' });
    const failure = (cost: string) => ({
      message:
        'the new lines do not sound like the earlier dub: the new ones are deeper. The earlier track was not changed',
      facts: {
        ...{ category: 'job', code: 'VOICE_DIFFERS' },
        advice: `Dub all lines again with --whole${cost}; after --only, with --only 1-3. The paid piece is kept: the same command pays nothing.`,
      },
    });
    await expect(carryOut()).rejects.toMatchObject(failure(' (1 started thousand characters)'));
    await expect(carryOut({}, { ...item, units: null })).rejects.toMatchObject(failure(''));
    expect(readFileSync(kept, 'utf8')).toBe('earlier track');
  });
});
