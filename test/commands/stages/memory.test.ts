/** The translation memory in a localization in stages. */
import { expect, it } from 'vitest';
import { startStaging } from './staging.ts';

it('a localization in stages sends only sentences with new cues, and remembers lines that were edited beside the video', async () => {
  const vloc = await startStaging();
  const words = ['localize', 'talk.mp4', '--to', 'es', '--stop-after', 'translate'];
  await vloc.run([...words.slice(0, -1), 'recognize']);
  await vloc.edit('talk.en.srt', 'good morning', 'Good morning.');
  await vloc.edit('talk.en.srt', 'and good', 'And good');
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
