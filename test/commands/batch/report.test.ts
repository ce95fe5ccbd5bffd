import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { CostRow } from '../../../src/batch/report/cost-table.ts';
import { startVloc } from '../support/run-vloc.ts';

const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';

async function startBatch() {
  const vloc = await startVloc();
  await writeFile(join(vloc.folder, 'a.srt'), SRT);
  await vloc.run(['translate', 'a.srt', '--from', 'en', '--to', 'es', '--out', 'out']);
  return vloc;
}

test('a file is replaced as a whole', async () => {
  const vloc = await startBatch();
  const path = join(vloc.folder, 'reports', 'report.xml');
  await mkdir(dirname(path));
  await writeFile(path, 'old');
  const { code, stdout, stderr } = await vloc.run([
    ...['batch', 'report', 'out', '--format', 'junit', '--out', 'reports/report.xml'],
  ]);
  expect([code, stdout, stderr]).toEqual([0, '', 'Written to reports/report.xml.\n']);
  const xml = await readFile(path, 'utf8');
  expect(xml).toMatch(/^<\?xml .*<testcase name="a\.srt → es".*<\/testsuites>\n$/s);
  expect(await readdir(dirname(path))).toEqual(['report.xml']);
});

test('JUnit names do not depend on the state of an item or on the folders of the machine', async () => {
  const vloc = await startVloc();
  await writeFile(join(vloc.folder, 'a.srt'), SRT);
  const words = ['translate', join(vloc.folder, 'a.srt'), '--from', 'en', '--to', 'es', '--out', 'out'];
  const names = async () => {
    const { stdout } = await vloc.run(['batch', 'report', 'out', '--format', 'junit']);
    return Array.from(stdout.matchAll(/<test(?:suite|case) name="([^"]*)"/g), ([, name]) => name);
  };
  await vloc.run([...words, '--max-credits', '0']);
  expect(await names()).toEqual(['out', 'a.srt → es']);
  await vloc.run(words);
  expect(await names()).toEqual(['out', 'a.srt → es']);
});

test('--costs adds up to what the ledger charged, by folder, language and month', async () => {
  const vloc = await startVloc();
  for (const path of ['week1/a.srt', 'week2/b.srt']) {
    await mkdir(join(vloc.folder, 'lessons', dirname(path)), { recursive: true });
    await writeFile(join(vloc.folder, 'lessons', path), SRT);
  }
  const words = ['translate', 'lessons', '--from', 'en', '--to', 'es,fr', '--out', 'out'];
  await vloc.run(words);
  // The jobs of results that were made anew were paid, too.
  const anew = ['--fresh', '--clobber', '--exclude', 'week2/**'];
  expect((await vloc.run([...words, ...anew])).code).toBe(0);
  const { stdout } = await vloc.run(['batch', 'report', 'out', '--costs', '-o', 'json']);
  const rows: CostRow[] = JSON.parse(stdout).data;
  const { data } = (await vloc.caller.get('/v1/credit-transactions?limit=50')).json;
  const ledger = data.reduce((sum: number, { amount }: { amount: number }) => sum - amount, 0);
  expect(rows.reduce((sum, { charged }) => sum + charged, 0)).toBe(ledger);
  expect(rows.map(({ reserved, unknown }) => reserved + unknown)).toEqual([0, 0, 0, 0]);
  expect(rows.map(({ folder, target_language: to, jobs }) => [folder, to, jobs])).toEqual([
    ['week1', 'es', 2],
    ['week1', 'fr', 2],
    ['week2', 'es', 1],
    ['week2', 'fr', 1],
  ]);
  const table = await vloc.run([
    'batch',
    'report',
    'out',
    '--costs',
    '-o',
    'csv',
    '--fields',
    'month,folder,charged',
  ]);
  expect(table.stdout.split('\n')[1]).toBe(`${rows[0]?.month},week1,${rows[0]?.charged}`);
  const whole = await vloc.run(['batch', 'report', 'out', '--fields', 'month']);
  expect([whole.code, whole.stdout]).toEqual([2, '']);
});
