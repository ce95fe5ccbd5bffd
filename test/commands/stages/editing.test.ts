/** The commands of docs/editing.md, in their order, with an edit between them and the costs that the page names. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { type Staging, startStaging } from './staging.ts';

const PAGE = readFileSync(new URL('../../../docs/editing.md', import.meta.url), 'utf8');
const COMMANDS = [...PAGE.matchAll(/```sh\n\s*vloc ([^\n]+)\n/g)].map(([, words = '']) =>
  words.replace('es,fr', 'es').split(' '),
);

/** Units by kind of job. The lines of a translation are not known before its recognition. */
function plannedUnits(json: string): Record<string, unknown> {
  const plan = JSON.parse(json);
  const stages: { kind: string; jobs: number; quantity: number; unmeasured: number }[] = plan.stages ?? [
    plan,
  ];
  const paid = stages.filter(({ jobs }) => jobs > 0);
  return Object.fromEntries(
    paid.map(({ kind, quantity, unmeasured }) => [kind, unmeasured > 0 ? expect.any(Number) : quantity]),
  );
}

/** The same, from the ledger. */
async function chargedUnits({ caller }: Staging): Promise<Record<string, number>> {
  const { json } = await caller.get('/v1/credit-transactions?limit=50');
  const units: Record<string, number> = {};
  for (const { capability, quantity } of json.data) units[capability] = (units[capability] ?? 0) + quantity;
  return units;
}

it('a folder is sampled, reviewed, corrected, dubbed and corrected again, as docs/editing.md says', async () => {
  const vloc = await startStaging();
  await mkdir(vloc.path('lessons'));
  await rename(vloc.path('talk.mp4'), vloc.path('lessons/talk.mp4'));
  const [sample, stop, list, exportTable, importTable, fix, dub] = COMMANDS;
  const run = async (words: readonly string[] = []) => {
    const ended = await vloc.run(words);
    expect(ended.code, ended.stderr).toBe(0);
    return ended;
  };
  /** Runs a paid command, which must charge what its --dry-run says. */
  const pay = async (words: readonly string[] = []) => {
    const planned = plannedUnits((await run([...words, '--dry-run', '--output', 'json'])).stdout);
    const before = await chargedUnits(vloc);
    const ended = await run(words);
    const after = await chargedUnits(vloc);
    const charged = Object.entries(after).map(([kind, units]) => [kind, units - (before[kind] ?? 0)]);
    expect(Object.fromEntries(charged.filter(([, units]) => units !== 0))).toEqual(planned);
    return ended;
  };
  const edit = (from: string, to: string) => vloc.edit('lessons/talk.es.srt', from, to);
  const dubbedSoFar = () => vloc.dubbed.length;

  expect((await pay(sample)).stderr).toContain('the whole');
  expect(vloc.has('out/talk.es.sample.mp4')).toBe(true);
  await pay(stop);
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
    // The first entry is the sample, which has subtitles of its own.
    expect(files[at]).toEqual({ path, language: 'es', command: onward, entry: 'e2', text: '' });
    expect(block(`text-${at}`)).toBe(vloc.read('lessons/talk.es.srt'));
  }
  await edit('GOOD MORNING', 'buenos días');
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
  const before = dubbedSoFar();
  await pay(dub);
  expect(vloc.dubbed.at(-1)).toContain('buenos días');
  expect(vloc.has('out/talk.es.mp4')).toBe(true);
  await pay(dub);
  expect(dubbedSoFar() - before).toBe(1);
  await edit('buenas noches', 'hasta luego');
  const [recognized, translated] = await vloc.jobs();
  await pay(dub);
  expect(dubbedSoFar() - before).toBe(2);
  // Only the dub was paid again.
  expect((await vloc.jobs()).slice(0, 2)).toEqual([recognized, translated]);
});
