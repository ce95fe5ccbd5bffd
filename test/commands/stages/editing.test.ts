/** The commands of docs/editing.md, in their order, with an edit between them. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { startStaging } from './staging.ts';

const PAGE = readFileSync(new URL('../../../docs/editing.md', import.meta.url), 'utf8');
const COMMANDS = [...PAGE.matchAll(/```sh\n\s*vloc ([^\n]+)\n/g)].map(([, words = '']) =>
  words.replace('es,fr', 'es').split(' '),
);

it('a folder is reviewed, corrected and dubbed, as docs/editing.md says', async () => {
  const vloc = await startStaging();
  await mkdir(vloc.path('lessons'));
  await rename(vloc.path('talk.mp4'), vloc.path('lessons/talk.mp4'));
  const [sample, stop, list, exportTable, importTable, fix, dub] = COMMANDS;
  const run = async (words: readonly string[] = []) => {
    const ended = await vloc.run(words);
    expect(ended.code, ended.stderr).toBe(0);
    return ended;
  };
  await run([...(sample ?? []), '--dry-run']);
  await run(stop);
  const listed = await run(list);
  // The engines of this test write the original in capitals.
  expect(listed.stdout).toContain('EQUAL');
  const onward = 'vloc localize lessons --to es --out out --from-subtitles';
  expect(listed.stderr).toContain(`  ${onward}\n`);
  // The page is made from the build, which a checkout may not have.
  if (existsSync(new URL('../../../dist/report-page.js', import.meta.url))) {
    await run(['batch', 'report', 'out', '--html']);
    const page = vloc.read('out/report.html');
    const block = (id: string) =>
      JSON.parse(new RegExp(`id="${id}">(.*?)</script>`, 's').exec(page)?.[1] ?? '');
    const { files, run_in } = block('facts');
    expect(run_in).toBe('..');
    const path = '../lessons/talk.es.srt';
    const at = files.findIndex((file: { path: string }) => file.path === path);
    expect(files[at]).toEqual({ path, language: 'es', command: onward, entry: 'e1', text: '' });
    expect(block(`text-${at}`)).toBe(vloc.read('lessons/talk.es.srt'));
  }
  await vloc.edit('lessons/talk.es.srt', 'GOOD MORNING', 'buenos días');
  // A translation into another language does not make the source unclear.
  writeFileSync(vloc.path('lessons/talk.fr.srt'), vloc.read('lessons/talk.es.srt'));
  await run(exportTable);
  rmSync(vloc.path('lessons/talk.fr.srt'));
  expect(vloc.read('review.csv')).toContain('EQUAL: its translation is the same as the original');
  await vloc.edit('review.csv', 'AND GOOD NIGHT', 'y buenas noches');
  const imported = await run(importTable);
  expect(imported.stdout).toBe('lessons/talk.es.srt: 1 cue written\n');
  expect(imported.stderr).toContain(`  ${onward}\n`);
  expect((await run(list)).stdout).toBe('');
  await run(fix);
  const jobs = await vloc.jobs();
  await run(dub);
  expect(vloc.dubbed.at(-1)).toBe('buenos días | y buenas noches');
  expect(vloc.has('out/talk.es.mp4')).toBe(true);
  // Recognition and translation are not paid again.
  expect((await vloc.jobs()).slice(0, 2)).toEqual(jobs.slice(0, 2));
});
