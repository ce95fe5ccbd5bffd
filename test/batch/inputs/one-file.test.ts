/** The items of --one-file, and what it cannot have. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { forecastPlan } from '../../../src/batch/plan/dry-run.ts';
import { createFolder, MP4, type Planning, plan as planIn, problemsOf } from '../plan/support.ts';

const TO = ['es', 'fr'];

/** A plan for `talk.mp4` in Spanish and French. */
async function plan(options: Record<string, unknown> = {}, io: Planning['io'] = {}) {
  const cwd = createFolder({ 'talk.mp4': MP4 });
  const asked = { to: TO, oneFile: true, out: 'out', ...options };
  const { planned } = await planIn(cwd, ['talk.mp4'], { options: asked, io });
  const names = planned.map(({ paths }) => paths?.[0]?.slice(join(cwd, 'out/').length));
  return { planned, names, items: planned.map(({ item }) => item), whole: planned[2]?.item };
}

const languagesOf = ({ whole }: Awaited<ReturnType<typeof plan>>) =>
  whole?.gathers?.map(({ targetLanguage }) => targetLanguage);

it('a video has an item for each language, whose result only vloc reads, and one for the file of all', async () => {
  const found = await plan();
  expect(found.names).toEqual([...TO.map((to) => `.vloc/languages/talk.video.${to}.mp4`), 'talk.mul.mp4']);
  expect(found.items.map(({ isInner = false }) => isInner)).toEqual([true, true, false]);
  expect(found.whole).toMatchObject({ keep: 'audio', startsWithOriginal: false, units: { quantity: 0 } });
  expect(languagesOf(found)).toEqual(TO);
  const forecast = forecastPlan('auto_localization', found.planned, { price: () => 1, balance: null });
  expect(forecast).toMatchObject({ jobs: 2, credits: 4, items: [{}, {}, { conversion: 'put together' }] });
});

it('the sound that players start with is the first of the file', async () => {
  const found = await plan({ default: 'fr' });
  expect([languagesOf(found), found.whole?.startsWithOriginal]).toEqual([['fr', 'es'], false]);
  expect((await plan({ default: 'original' })).whole).toMatchObject({ startsWithOriginal: true });
});

it('a file whose subtitles alone are translated has the sound of its source once', async () => {
  const { whole } = await plan({ mode: 'subtitles_only', keepSubtitles: true });
  expect(whole?.keep).toBe('subtitles');
});

it('each language has its sound beside the file with --sound-only', async () => {
  const { names, items } = await plan({ soundOnly: true, loudness: '-16' });
  expect(names.slice(3)).toEqual(['talk.es.m4a', 'talk.fr.m4a']);
  expect(items[3]).toMatchObject({
    ...{ label: 'talk.mp4 → es (sound)', sound: { format: 'm4a', loudness: -16 }, units: { quantity: 0 } },
    gathers: [{ targetLanguage: 'es' }],
  });
});

it('the results of a sample have names of their own', async () => {
  const { names, items } = await plan({ sample: '5s' });
  expect(names).toEqual([
    ...TO.map((to) => `.vloc/languages-of-samples/talk.video.${to}.mp4`),
    'talk.mul.sample.mp4',
  ]);
  const keys = (await plan()).items.map(({ key }) => key);
  for (const { key } of items) expect(keys).not.toContain(key);
});

it('a video without sound is copied once', async () => {
  const examineVideo = async () =>
    ({ type: 'usable', seconds: 61, preparation: null, isSilent: true }) as const;
  const { names, items } = await plan({ passThrough: true }, { examineVideo });
  expect([names, items[0]?.gathers]).toEqual([['talk.mul.mp4'], undefined]);
});

it.each([
  [{ subtitleOutput: 'burned' }, /^--one-file: has one picture, .*--subtitle-output soft/],
  [{ default: 'de' }, /^--default: must be original or one of es, fr, not de/],
  [{ oneFile: false, default: 'es' }, /^--default: is for --one-file/],
  [{ name: '{stem}.{id}{ext}' }, /^--name: has \{id\}/],
  [{ soundOnly: true, name: '{stem}.{lang}.m4a' }, /^--name: ends in \.m4a.*end it in \{ext\}/],
  [{ soundOnly: true, mode: 'subtitles_only' }, /^--sound-only: .* for which --mode subtitles_only/],
])('is refused before anything is paid where it cannot be made: %j', async (options, said) => {
  expect(await problemsOf(plan(options))).toEqual([expect.stringMatching(said)]);
});

it('is refused for a video that is not here', async () => {
  const address = 'https://example.com/talk.mp4';
  const options = { to: ['es'], oneFile: true };
  expect(await problemsOf(planIn(createFolder({}), [address], { options }))).toEqual([
    expect.stringContaining('is not a file on this machine'),
  ]);
});

it.each(['talk.mul.mp4', 'talk.es.m4a'])('a file of the user is not replaced: %s', async (name) => {
  const options = { to: TO, oneFile: true, soundOnly: true };
  const planned = planIn(createFolder({ 'talk.mp4': MP4, [name]: 'mine' }), ['talk.mp4'], { options });
  expect(await problemsOf(planned)).toEqual([expect.stringContaining(`${name}: exists; --clobber`)]);
});
