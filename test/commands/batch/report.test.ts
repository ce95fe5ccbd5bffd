import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
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

test('a file whose name is that of the report with .part is kept', async () => {
  const vloc = await startBatch();
  await writeFile(join(vloc.folder, 'report.md.part'), 'mine');
  expect((await vloc.run(['batch', 'report', 'out', '--out', 'report.md'])).code).toBe(0);
  expect(await readFile(join(vloc.folder, 'report.md.part'), 'utf8')).toBe('mine');
});
