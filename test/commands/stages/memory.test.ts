/** The translation memory in a localization in stages. */
import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { tmx } from '../support/tmx.ts';
import { startStaging } from './staging.ts';

/** A video whose two cues are sentences of their own. */
async function startSentences() {
  const vloc = await startStaging();
  await vloc.run(['localize', 'talk.mp4', '--to', 'es', '--stop-after', 'recognize']);
  await vloc.edit('talk.en.srt', 'good morning', 'Good morning.');
  await vloc.edit('talk.en.srt', 'and good', 'And good');
  return vloc;
}

it('a localization in stages sends only sentences with new cues, and remembers lines that were edited beside the video', async () => {
  const vloc = await startSentences();
  const words = ['localize', 'talk.mp4', '--to', 'es', '--stop-after', 'translate'];
  const first = await vloc.run(words);
  expect(first.code, first.stderr).toBe(0);
  await vloc.edit('talk.en.srt', 'And good night', 'And goodbye');
  const planned = await vloc.run([...words, '--dry-run', '-o', 'json']);
  const [stage] = JSON.parse(planned.stdout).stages.filter(
    ({ kind }: { kind: string }) => kind === 'subtitle_translation',
  );
  expect(stage).toMatchObject({ quantity: 1, memory: { lines: 2, from_memory: 1, to_pay: 1 } });
  const second = await vloc.run([...words, '-o', 'json']);
  expect([second.code, JSON.parse(second.stdout).data[0].error], second.stderr).toEqual([0, null]);
  expect(second.stderr).toContain('2 lines, 1 from memory, 1 translated.');
  expect(vloc.read('talk.es.srt')).toMatch(/GOOD MORNING\.[\s\S]+AND GOODBYE/);
  await vloc.edit('talk.es.srt', 'GOOD MORNING.', 'buenos días');
  await vloc.addVideo('other.mp4');
  await vloc.run(['localize', 'other.mp4', '--to', 'es', '--stop-after', 'recognize']);
  await vloc.edit('other.en.srt', 'good morning', 'Good morning.');
  const other = await vloc.run(['localize', 'other.mp4', '--to', 'es', '--stop-after', 'translate']);
  expect(other.code, other.stderr).toBe(0);
  expect(vloc.read('other.es.srt')).toContain('buenos días');
});

it('a video that is done says which lines the memory has newer and what they would cost, and has them with --clobber', async () => {
  const vloc = await startSentences();
  const words = ['localize', 'talk.mp4', '--to', 'es', '--from-subtitles', '--memory', 'team.db'];
  const first = await vloc.run(words);
  expect(first.code, first.stderr).toBe(0);
  await writeFile(
    vloc.path('team.tmx'),
    tmx(['Good morning.', 'muy buenos días'], ['And good night', 'y buenas noches']),
  );
  expect((await vloc.run(['memory', 'import', 'team.tmx', '--memory', 'team.db'])).code).toBe(0);
  const made = await vloc.jobs();
  const done = await vloc.run(words);
  expect([done.code, done.stderr]).toEqual([
    0,
    expect.stringContaining(
      'talk.mp4: the memory has newer translations of 2 lines (es); --clobber writes the result again with them, and pays for lines that are not in the memory and for dubbing what changes; --clobber --dry-run shows the price.',
    ),
  ]);
  // A translation for review says nothing about a dub.
  const review = await vloc.run([...words, '--stop-after', 'translate']);
  expect(review.stderr).toContain(
    '--clobber writes the result again with them, and pays only for lines that are not in the memory.',
  );
  expect(vloc.read('talk.es.srt')).not.toContain('muy buenos días');
  expect(await vloc.jobs()).toEqual(made);
  const planned = await vloc.run([...words, '--clobber', '--dry-run', '-o', 'json']);
  expect(JSON.parse(planned.stdout).stages).toMatchObject([
    { kind: 'subtitle_translation', jobs: 0, credits: 0 },
    { kind: 'dubbing', jobs: 1, quantity: 1 },
    { kind: 'audio_separation', jobs: 0 },
  ]);
  const again = await vloc.run([...words, '--clobber']);
  expect(again.code, again.stderr).toBe(0);
  expect(vloc.read('talk.es.srt')).toMatch(/muy buenos días[\s\S]+y buenas noches/);
  expect(vloc.dubbed.at(-1)).toBe('muy buenos días | y buenas noches');
  const [recognitions, translations, dubs = 0, separations] = made;
  expect(await vloc.jobs()).toEqual([recognitions, translations, dubs + 1, separations]);
});
