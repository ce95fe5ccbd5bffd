import { link, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
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

test('the report on stdout is Markdown, or JSON if requested', async () => {
  const vloc = await startBatch();
  const { stdout } = await vloc.run(['batch', 'report', 'out']);
  expect(stdout).toMatch(/^# .*\n\n1 item at .*: 1 done\. Credits: \d/);
  const json = await vloc.run(['batch', 'report', 'out', '-o', 'json', '--jq', '.items[].files[].path']);
  expect(json.stdout).toBe(`${join(vloc.folder, 'out', 'a.es.srt')}\n`);
  const line = await vloc.run(['batch', 'report', 'out', '-o', 'ndjson']);
  expect(line.stdout.trim().split('\n')).toHaveLength(1);
});

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

test('a path that cannot be written is a disk failure, and no draft remains', async () => {
  const vloc = await startBatch();
  const { code, stderr } = await vloc.run(['batch', 'report', 'out', '--out', 'a.srt/report.md']);
  expect([code, stderr]).toEqual([10, expect.stringContaining('a.srt/report.md: ')]);
});

test.each([
  ['an input', 'a.srt', 'TARGET_IS_INPUT'],
  ['a link to an input', 'link.srt', 'TARGET_IS_INPUT'],
  ['a list of inputs', 'list.txt', 'TARGET_IS_INPUT'],
  ['a result', 'out/a.es.srt', 'TARGET_EXISTS'],
  ['the journal', 'out/.vloc/records.db', 'TARGET_EXISTS'],
])('a report never overwrites %s of the batch', async (_what, name, code) => {
  const vloc = await startVloc();
  await writeFile(join(vloc.folder, 'a.srt'), SRT);
  await writeFile(join(vloc.folder, 'list.txt'), 'a.srt\n');
  await link(join(vloc.folder, 'a.srt'), join(vloc.folder, 'link.srt'));
  const words = ['translate', '--files-from', 'list.txt', '--from', 'en', '--to', 'es', '--out', 'out'];
  expect((await vloc.run(words)).code).toBe(0);
  const before = await readFile(join(vloc.folder, name));
  for (const form of [['--format', 'json'], ['--html']]) {
    const ended = await vloc.run(['batch', 'report', 'out', ...form, '--out', name, '-o', 'json']);
    expect([ended.code, JSON.parse(ended.stderr).error.code]).toEqual([2, code]);
    expect(await readFile(join(vloc.folder, name))).toEqual(before);
  }
});

test('a file whose name is that of the report with .part is kept', async () => {
  const vloc = await startBatch();
  await writeFile(join(vloc.folder, 'report.md.part'), 'mine');
  expect((await vloc.run(['batch', 'report', 'out', '--out', 'report.md'])).code).toBe(0);
  expect(await readFile(join(vloc.folder, 'report.md.part'), 'utf8')).toBe('mine');
});
