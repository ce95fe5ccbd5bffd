/** Which recipe an item has, after each decision about it. */
import { expect, it } from 'vitest';
import type { BatchItem } from '../../../src/batch/item.ts';
import type { Decision } from '../../../src/batch/plan/decision.ts';
import type { Redub } from '../../../src/batch/plan/redub.ts';
import { recipeOf } from '../../../src/batch/recipes/recipe-of.ts';
import { openMemory } from '../../../src/batch/records/translation-memory.ts';
import type { Batch } from '../../../src/batch/run/batch.ts';
import { recallKey } from '../../../src/batch/run/recall.ts';
import { linesItem, linesOf, MASKS, NAMED, openBench, videoItem } from './support/bench.ts';

const download = (key: string) =>
  ({ step: 'continue', next: { step: 'download', key, jobId: 'job' } }) as const;

const redub: Redub = {
  ...{ source: 'c', isBegun: false, total: 2, units: { unit: 'started_thousand_characters', quantity: 1 } },
  ...{ places: [], lines: linesOf('b'), numbers: [2], kept: [[1, 1]], from: '/kept.wav' },
  track: { path: '/track.wav', sha256: 'd', size: 1 },
  base: { key: 'key', jobId: 'job_0', sha256: 'e' },
};

const DECISIONS: readonly Decision[] = [
  { step: 'new', after: null },
  { step: 'new', after: null, redub },
  download('key'),
  download('joined:1'),
  { step: 'continue', next: { step: 'parts', due: { jobs: 1, units: null } } },
  { step: 'expired', jobId: 'job', key: 'key' },
  { step: 'expired', jobId: 'job', key: 'joined:1' },
  { step: 'done', before: 'downloaded', jobId: 'job', files: [] },
];

const TALK = ['Acme one.', 'Two.'];
const PARTS = TALK.map((text, at) => ({ lines: linesOf(text), offsetMs: at * 2000 }));

/** The step of the result for each of the decisions; `!` is a refusal, `-` one job or none. A `+` follows a warning. */
async function recipesOf(item: BatchItem, batch: Partial<Batch>, recalled: readonly (string | null)[] = []) {
  const { run, warnings } = await openBench({ batch });
  if (recalled.length > 0) run.recalled.recorded.set(recallKey(item), { texts: recalled, isDone: false });
  const found: string[] = [];
  for (const decision of DECISIONS) {
    const before = warnings.length;
    const recipe = await recipeOf(run, { item, decision });
    const result = recipe?.({ result: () => undefined, value: () => undefined });
    const isRefusal = result?.does === 'merge' && result.needs.length === 0;
    found.push((isRefusal ? '!' : (result?.does ?? '-')) + '+'.repeat(warnings.length - before));
  }
  return { found: found.join(' '), warnings };
}

const store = await openMemory('/nowhere/memory.db', { now: Date.now });
const memory = { store, origin: 'service', used: { lines: 0, known: 0 } };
const { terms } = MASKS;
const translation = linesItem('subtitle_translation', TALK);
const short = linesItem('subtitle_translation', ['Two.']);
const inParts = linesItem('subtitle_translation', TALK, { parts: PARTS });
const video = videoItem();
const silent = videoItem({ isSilent: true });
const SOME = [null, 'Dos.'];
const MERGES = 'merge merge merge merge merge';
const long = videoItem({ preparation: { conversion: null, reasons: [], track: 1, parts: 2, minutes: 1 } });
const address = {
  ...translation,
  input: { type: 'url', ...NAMED, url: 'https://example.com/talk.srt' },
} as const;

it.each<[string, string, BatchItem, Partial<Batch>?, (readonly (string | null)[])?]>([
  ['a video', '- - - - - - - -', video],
  ['a video without sound', 'copy copy - - - - - -', silent],
  ['a file with all languages', 'gather gather - - - - - -', { ...silent, gathers: [video] }],
  ['a long video', 'join join join join join - - -', long],
  ['a dub', '- patch - ! - - ! -', linesItem('dubbing', TALK)],
  ['a dub in parts', 'join join join join join - - -', linesItem('dubbing', TALK, { parts: PARTS })],
  ['a dub of a job', '- - - - - - - -', { ...address, kind: 'dubbing' }],
  ['a translation', '- - - ! - - - -', translation],
  ['a translation in parts', 'join join join join join - - -', inParts],
  ['a translation with terms', '- - - ! - - - -', translation, { terms }],
  ['a translation of an address with terms', '- - - ! - - - -', address, { terms }],
  ['a translation of an address without terms', '- - - - - - - -', address, { masksTerms: true }],
  ['a translation with placeholders', 'merge merge - merge - - - -', translation, MASKS],
  ['a translation with placeholders for terms that it lacks', '- - - ! - - - -', short, MASKS],
  ['a translation in parts with placeholders', 'join+ join+ join join+ join - - -', inParts, MASKS],
  ['a translation of an address with placeholders', '-+ -+ - -+ - - - -', address, MASKS],
  ['a translation that is not remembered', '- - - ! - - - -', translation, { memory }],
  ['a translation that is remembered', `merge merge - ${MERGES}`, translation, { memory }, SOME],
  ['a translation in parts that is remembered', `merge merge join ${MERGES}`, inParts, { memory }, SOME],
  ['a translation with both', `merge merge - ${MERGES}`, translation, { memory, ...MASKS }, SOME],
  ['a video with both', '- - - - - - - -', video, { memory, ...MASKS }, SOME],
])('the recipes of %s are %s', async (_, expected, item, batch = {}, recalled = []) => {
  expect((await recipesOf(item, batch, recalled)).found).toBe(expected);
});

it('a warning says that terms are sent as they are', async () => {
  expect((await recipesOf(address, MASKS)).warnings[0]).toBe(
    'talk → es: its terms are sent as they are: they are replaced in a file of up to 10,000 lines only.',
  );
});

it.each([
  ['dubbing', 'put together here from several jobs', 'make a new dub, which is charged again, with --fresh'],
  ['subtitle_translation', 'made with --mask-terms', 'Run the same command with --mask-terms'],
] as const)(
  'a %s that can only be made of several results refuses to be paid again',
  async (kind, message, advice) => {
    const { carryOut } = await openBench();
    const made = carryOut(linesItem(kind, TALK), download('joined:1'));
    await expect(made).rejects.toMatchObject({
      message: expect.stringContaining(message),
      facts: { category: 'usage', code: 'RESULT_GONE', advice: expect.stringContaining(advice) },
    });
  },
);
