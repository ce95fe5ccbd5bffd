/** The translation memory in a localization in stages. */
import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { tmx } from '../support/tmx.ts';
import { startStaging } from './staging.ts';

const srt = (...texts: string[]) =>
  texts.map((text, at) => `${at + 1}\n00:00:0${at},000 --> 00:00:0${at},900\n${text}\n`).join('\n');

const wordsFor = (stem: string) => [
  'localize',
  `${stem}.mp4`,
  '--to',
  'es',
  '--from',
  'en',
  '--from-subtitles',
];
const STOP = ['--stop-after', 'translate'];

/** A video whose two cues are sentences of their own. */
async function startSentences() {
  const vloc = await startStaging();
  await writeFile(vloc.path('talk.en.srt'), srt('Good morning.', 'And good night.'));
  return vloc;
}

it('a localization in stages sends only sentences with new cues, and remembers lines that were edited beside the video', async () => {
  const vloc = await startSentences();
  const first = await vloc.run([...wordsFor('talk'), ...STOP]);
  expect(first.code, first.stderr).toBe(0);
  await vloc.edit('talk.es.srt', 'GOOD MORNING.', 'buenos días');
  await vloc.addVideo('other.mp4');
  await writeFile(vloc.path('other.en.srt'), srt('Good morning.', 'And goodbye.'));
  const words = [...wordsFor('other'), ...STOP, '-o', 'json'];
  const planned = await vloc.run([...words, '--dry-run']);
  const [stage] = JSON.parse(planned.stdout).stages;
  expect(stage).toMatchObject({ quantity: 1, memory: { lines: 2, from_memory: 1, to_pay: 1 } });
  const second = await vloc.run(words);
  expect([second.code, JSON.parse(second.stdout).data[0].error], second.stderr).toEqual([0, null]);
  expect(second.stderr).toContain('2 lines, 1 from memory, 1 translated.');
  expect(vloc.read('other.es.srt')).toMatch(/buenos días[\s\S]+AND GOODBYE/);
});

it('a translation that is done says which lines the memory has newer, and has them with --clobber, which pays for dubbing alone', async () => {
  const vloc = await startSentences();
  const words = [...wordsFor('talk'), '--memory', 'team.db'];
  const first = await vloc.run([...words, ...STOP]);
  expect(first.code, first.stderr).toBe(0);
  await writeFile(
    vloc.path('team.tmx'),
    tmx(['Good morning.', 'muy buenos días'], ['And good night.', 'y buenas noches']),
  );
  expect((await vloc.run(['memory', 'import', 'team.tmx', '--memory', 'team.db'])).code).toBe(0);
  const newer =
    'talk.mp4: the memory has newer translations of 2 lines (es); --clobber writes the result again';
  const done = await vloc.run([...words, '--dry-run']);
  expect(done.stderr).toContain(
    `${newer} with them, and pays for lines that are not in the memory and for dubbing what changes; --clobber --dry-run shows the price.`,
  );
  expect(vloc.read('talk.es.srt')).not.toContain('muy buenos días');
  const planned = await vloc.run([...words, '--clobber', '--dry-run', '-o', 'json']);
  expect(JSON.parse(planned.stdout).stages).toMatchObject([
    { kind: 'subtitle_translation', jobs: 0, credits: 0 },
    { kind: 'dubbing', jobs: 1, quantity: 1 },
    { kind: 'audio_separation', jobs: 1 },
  ]);
  const again = await vloc.run([...words, '--clobber', ...STOP]);
  expect(again.code, again.stderr).toBe(0);
  expect(vloc.read('talk.es.srt')).toMatch(/muy buenos días[\s\S]+y buenas noches/);
  expect(await vloc.jobs()).toEqual([0, 1, 0, 0]);
});
