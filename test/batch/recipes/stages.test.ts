import { expect, it } from 'vitest';
import { createItem } from '../../../src/batch/inputs/items.ts';
import type { VideoItem } from '../../../src/batch/inputs/stage-items.ts';
import {
  firstLook,
  listJobs,
  type StagedTarget,
  type StageResult,
  type StageStep,
  stagesRecipe,
} from '../../../src/batch/recipes/stages.ts';
import { stepsOf } from '../../../src/batch/run/step.ts';

function videoOf(fields: Readonly<Record<string, unknown>> = {}, isSilent?: true): VideoItem {
  const name = { label: 'talk.mp4', stem: 'talk', name: 'talk.mp4', path: '/videos/talk.mp4' };
  const facts = { bytes: 100, mtimeMs: 0, contentType: 'video/mp4', seconds: 60, preparation: null };
  const input = { type: 'file' as const, ...name, ...facts, ...(isSilent ? { isSilent } : {}) };
  const request = { targetLanguage: 'es', fields: { target_language: 'es', ...fields } };
  return { ...createItem('auto_localization', input, request), input };
}

const linesIn = (language: string, ...texts: string[]) => ({
  ...{ label: '', parts: null, language },
  lines: texts.map((text, at) => ({ index: at + 1, start_ms: at * 1000, end_ms: at * 1000 + 900, text })),
});
const ENGLISH = linesIn('en', 'good morning', 'and good night');
const SPANISH = linesIn('es', 'buenos días', 'y buenas noches');

const target = (facts: Partial<StagedTarget> = {}): StagedTarget => ({
  ...{ item: videoOf(), source: null, target: null, stopAfter: null },
  ...facts,
});

/** Steps in their order: the kinds of jobs, and other work as it is called. */
const named = (result: StageResult) =>
  stepsOf<StageStep>(result).map((step) => (step.does === 'job' ? step.part.kind : step.does));
const stepsFor = (facts: Partial<StagedTarget>) => named(firstLook(stagesRecipe(target(facts))));

const HEARD = ['subtitle_recognition', 'transcript'];
const TRANSLATED = ['compare', 'subtitle_translation', 'translation', 'check'];
const DUBBED = ['fit', 'dubbing', 'audio_separation', 'export'];

it.each<[string, Partial<StagedTarget>, readonly string[]]>([
  ['a video is heard, translated, dubbed and put together', {}, [...HEARD, ...TRANSLATED, ...DUBBED]],
  [
    'subtitles in the spoken language replace the recognition',
    { source: ENGLISH },
    [...TRANSLATED, ...DUBBED],
  ],
  [
    'a translation replaces both, and the transcript is recalled for its terms and tracks',
    { target: SPANISH },
    ['recall', 'check', ...DUBBED],
  ],
  ['with both given, nothing is recalled', { source: ENGLISH, target: SPANISH }, ['check', ...DUBBED]],
  ['a stop after the recognition prepares no video', { stopAfter: 'recognize' }, [...HEARD, 'stop']],
  [
    'a stop after the recognition hears also a video whose translation is given',
    { target: SPANISH, stopAfter: 'recognize' },
    [...HEARD, 'stop'],
  ],
  ['a given transcript has nothing to recognize', { source: ENGLISH, stopAfter: 'recognize' }, ['stop']],
  ['a stop after the translation checks it', { stopAfter: 'translate' }, [...HEARD, ...TRANSLATED, 'stop']],
  [
    'a stop after a given translation checks it',
    { target: SPANISH, stopAfter: 'translate' },
    ['recall', 'check', 'stop'],
  ],
  [
    'without a dub there is no separation',
    { item: videoOf({ mode: 'subtitles_only' }) },
    [...HEARD, ...TRANSLATED, 'fit', 'export'],
  ],
  [
    'a dub without background needs no separation',
    { item: videoOf({ original_audio: 'mute' }) },
    [...HEARD, ...TRANSLATED, 'fit', 'dubbing', 'export'],
  ],
  ['a video without sound is copied', { item: videoOf({}, true) }, ['export']],
  ['a stop leaves a video without sound', { item: videoOf({}, true), stopAfter: 'translate' }, ['stop']],
])('%s', (_, facts, expected) => {
  expect(stepsFor(facts)).toEqual(expected);
});

it('no sound is paid before the texts are known to fit', () => {
  const steps = stepsOf<StageStep>(firstLook(stagesRecipe(target())));
  const sounds = steps.filter((step) => step.does === 'job').slice(-2);
  expect(sounds.map(({ part, needs }) => [part.kind, ...needs.map(({ id }) => id)])).toEqual([
    ['dubbing', 'fit'],
    ['audio_separation', 'fit'],
  ]);
});

it('a job behind another one has the same id before and after its lines are known, and units only after', () => {
  const recipe = stagesRecipe(target());
  const jobsOf = (result: StageResult) =>
    stepsOf<StageStep>(result).flatMap((step) => (step.does === 'job' ? step : []));
  const [before, after] = [jobsOf(firstLook(recipe)), jobsOf(recipe({ source: ENGLISH, target: SPANISH }))];
  expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  const units = (jobs: typeof before) => jobs.map(({ part }) => part.units?.quantity ?? null);
  expect(units(before)).toEqual([1, null, null, 1]);
  expect(units(after)).toEqual([1, 2, 1, 1]);
  const [, translation, dub] = after;
  expect(translation?.part.fields).toMatchObject({ source_language: 'en' });
  expect(dub?.part.input).toMatchObject({ lines: SPANISH.lines });
});

it('jobs for the video as a whole are the same in all languages', () => {
  const keys = (language: string) => {
    const item = { ...videoOf(), targetLanguage: language };
    return new Map(listJobs(stagesRecipe(target({ item }))).map(({ kind, key }) => [kind, key]));
  };
  const [spanish, french] = [keys('es'), keys('fr')];
  const same = [...spanish].filter(([kind, key]) => french.get(kind) === key).map(([kind]) => kind);
  expect(same).toEqual(['subtitle_recognition', 'audio_separation']);
});

it('the goal is the item whose result ends the target', () => {
  const goal = (facts: Partial<StagedTarget>) => firstLook(stagesRecipe(target(facts))).goal.kind;
  expect(goal({})).toBe('auto_localization');
  expect(goal({ stopAfter: 'recognize' })).toBe('subtitle_recognition');
  expect(goal({ stopAfter: 'translate', target: SPANISH })).toBe('subtitle_translation');
});

it('a video that shows both languages has the jobs of one that shows the translation, wherever the source stands', () => {
  const partsOf = (more: Partial<VideoItem> = {}) =>
    stepsOf<StageStep>(
      firstLook(stagesRecipe(target({ item: { ...videoOf(), ...more }, source: ENGLISH, target: SPANISH }))),
    ).flatMap((step) => (step.does === 'job' ? step.part : []));
  expect(partsOf()).toHaveLength(2);
  for (const bilingual of ['above', 'below'] as const) expect(partsOf({ bilingual })).toEqual(partsOf());
});
