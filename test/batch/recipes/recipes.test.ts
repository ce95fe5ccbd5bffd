/** The steps of each recipe, as they are known at each point. */
import { describe, expect, it } from 'vitest';
import type { LinesPart } from '../../../src/batch/input.ts';
import type { BatchItem } from '../../../src/batch/item.ts';
import type { Redub } from '../../../src/batch/plan/redub.ts';
import { copyRecipe } from '../../../src/batch/recipes/copy.ts';
import { redubRecipe } from '../../../src/batch/recipes/redub.ts';
import { splitRecipe } from '../../../src/batch/recipes/split.ts';
import { linesToSend, translationRecipe } from '../../../src/batch/recipes/translation.ts';
import type { CutVideo } from '../../../src/batch/run/parts.ts';
import { type Recipe, type Step, stepsOf } from '../../../src/batch/run/step.ts';
import type { SubtitleLine } from '../../../src/protocol/subtitle-line.ts';
import { linesItem } from '../run/support/items.ts';

const PLACE = { folder: '/results' };

/** `job 1 < cut` for a step that needs another one. @param made values of finished steps, by name */
function stepsIn(recipe: Recipe, made: Readonly<Record<string, unknown>> = {}): readonly string[] {
  // The test gives each step a value of its type.
  const get = (step: Step) => made[nameOf(step)] as never;
  return stepsOf<Step>(recipe({ result: get, value: get })).map((step) => {
    const needs = step.needs.map(nameOf).join(', ');
    return needs === '' ? nameOf(step) : `${nameOf(step)} < ${needs}`;
  });
}

function nameOf(step: Step): string {
  return step.does === 'job' ? `job ${step.part.part?.number}` : step.does;
}

function lines(...texts: readonly string[]): readonly SubtitleLine[] {
  return texts.map((text, at) => ({ index: at + 1, start_ms: at * 2000, end_ms: at * 2000 + 1000, text }));
}

function itemWith(own: readonly SubtitleLine[], parts: readonly LinesPart[] | null = null) {
  const item = linesItem(1);
  if (item.input.type !== 'lines') throw new TypeError('the item has no lines');
  const input = { ...item.input, lines: own, parts };
  return { ...item, input };
}

const VIDEO: BatchItem = {
  ...linesItem(1),
  kind: 'auto_localization',
  input: {
    ...{ type: 'file', label: 'talk.mp4', stem: 'talk', name: 'talk.mp4', path: '/talk.mp4' },
    ...{ bytes: 9, mtimeMs: 0, contentType: 'video/mp4', seconds: 9, preparation: null },
  },
};

const RESULT = { jobId: 'job_1', files: [] };

describe('a video that is too long', () => {
  it('is cut, has a job for each part, and is joined of their results', () => {
    const recipe = splitRecipe(PLACE, VIDEO);
    expect(stepsIn(recipe)).toEqual(['cut', 'join < cut']);
    const file = { path: '/part', bytes: 1, sha256: 'a', seconds: 3 };
    const cut: CutVideo = {
      ...{ sha256: 'b', files: [file, file], split: [3] },
      ensure: async () => file,
      use: () => undefined,
    };
    expect(stepsIn(recipe, { cut })).toEqual(['cut', 'job 1 < cut', 'job 2 < cut', 'join < job 1, job 2']);
  });
});

describe('subtitles in parts', () => {
  it('have a job for each part and speaker at once', () => {
    const parts = [
      { lines: lines('a'), offsetMs: 0, voice: { speaker: 'Ana', mode: 'female' } },
      { lines: lines('b'), offsetMs: 2000, voice: { speaker: null, mode: null } },
    ];
    const recipe = splitRecipe(PLACE, itemWith(lines('a', 'b'), parts));
    expect(stepsIn(recipe)).toEqual(['job 1', 'job 2', 'join < job 1, job 2']);
  });
});

describe('a translation', () => {
  const recipeFor = (texts: readonly (string | null)[], isMasked = false) => {
    const item = itemWith(lines('Acme is here', 'b'));
    const terms = { languages: ['es'], said: () => [], in: () => [{ term: 'Acme', expected: 'Acme' }] };
    const sent = linesToSend(item, item.input, texts, isMasked ? terms : undefined);
    return translationRecipe(PLACE, item, sent, isMasked ? null : { texts, isDone: false });
  };

  it('whose lines are all remembered has no job', () => {
    expect(stepsIn(recipeFor(['Acme está aquí', 'b']))).toEqual(['restore', 'merge < restore']);
  });

  it('of which some lines are remembered records what it recalls before the job of the others', () => {
    expect(stepsIn(recipeFor(['Acme está aquí', null]))).toEqual([
      'recall',
      'job 1 < recall',
      'restore < job 1',
      'merge < restore',
    ]);
  });

  it('with placeholders has a second job for the cues that lost theirs', () => {
    const recipe = recipeFor([null, null], true);
    const first = ['recall', 'job 1 < recall', 'restore < job 1'];
    expect(stepsIn(recipe)).toEqual([...first, 'merge < restore']);
    const kept = { texts: ['{T1} está aquí', 'b'], lost: [] };
    expect(stepsIn(recipe, { 'job 1': RESULT, restore: kept })).toEqual([...first, 'merge < restore']);
    const restore = { texts: ['está aquí', 'b'], lost: lines('Acme is here') };
    expect(stepsIn(recipe, { 'job 1': RESULT, restore })).toEqual([
      ...first,
      'job 2 < recall',
      'merge < restore, job 2',
    ]);
  });
});

describe('a dub of edited subtitles', () => {
  const redub: Redub = {
    ...{ source: 'c', isBegun: false, total: 2, units: { unit: 'started_thousand_characters', quantity: 1 } },
    ...{ places: [], lines: lines('b'), numbers: [2], kept: [[1, 1]], from: '/kept.wav' },
    track: { path: '/track.wav', sha256: 'd', size: 1 },
    base: { key: 'key', jobId: 'job_0', sha256: 'e' },
  };
  const item = itemWith(lines('a', 'b'));

  it('keeps the earlier track before the job of the changed cues', () => {
    expect(stepsIn(redubRecipe(PLACE, item, item.input, redub))).toEqual([
      'keep',
      'job 1 < keep',
      'patch < keep, job 1',
    ]);
  });

  it('of which cues were only removed has no job', () => {
    const recipe = redubRecipe(PLACE, item, item.input, { ...redub, lines: [], numbers: [] });
    expect(stepsIn(recipe)).toEqual(['keep', 'patch < keep']);
  });
});

it('a video without sound is copied', () => {
  if (VIDEO.input.type !== 'file') throw new TypeError('the item has no file');
  expect(stepsIn(copyRecipe(VIDEO, VIDEO.input))).toEqual(['copy']);
});

it('the steps of an item have ids of their own, and keep them when more is known', () => {
  const parts = [0, 1].map((at) => ({ lines: lines('a'), offsetMs: at * 2000 }));
  const recipe = splitRecipe(PLACE, itemWith(lines('a', 'b'), parts));
  const nothing = { result: () => undefined, value: () => undefined };
  const ids = stepsOf<Step>(recipe(nothing)).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const all = { result: () => RESULT, value: () => undefined };
  expect(stepsOf<Step>(recipe(all)).map(({ id }) => id)).toEqual(ids);
});
