import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { startVloc, type VlocScene } from '../support/run-vloc.ts';

const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';
const COMMAND = ['translate', 'subs', '--from', 'en', '--to', 'es,fr', '--out', 'out'];

/** Items of a folder with these files: each has two languages. */
async function startBatch(files: Readonly<Record<string, string>>, ...errors: Error[]): Promise<VlocScene> {
  const vloc = await startVloc();
  await mkdir(join(vloc.folder, 'subs'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(vloc.folder, 'subs', name), text);
  vloc.engines.failNext(...errors);
  return vloc;
}

async function statesOf(vloc: VlocScene): Promise<Record<string, string>> {
  const { stdout } = await vloc.run(['batch', 'report', 'out', '-o', 'json']);
  const { items }: { items: { label: string; state: string }[] } = JSON.parse(stdout);
  return Object.fromEntries(items.map(({ label, state }) => [label, state]));
}

const failure = () => new JobFailure('SUBTITLE_INVALID', 'it cannot be read');

test('failed and unusable items whose input was deleted are forgotten with --gone, and done ones stay', async () => {
  const files = { 'a.srt': SRT, 'b.srt': SRT, 'c.srt': 'no cues' };
  const vloc = await startBatch(files, failure(), failure(), failure(), failure());
  expect((await vloc.run(COMMAND)).code).toBe(3);
  await writeFile(join(vloc.folder, 'subs', 'd.srt'), SRT);
  expect((await vloc.run([...COMMAND, '--include', 'd.srt'])).code).toBe(0);
  for (const name of ['a', 'c', 'd']) await rm(join(vloc.folder, 'subs', `${name}.srt`));

  const forgotten = await vloc.run(['batch', 'forget', 'out', '--gone', '-o', 'json']);
  expect(forgotten.code, forgotten.stderr).toBe(0);
  const labels = JSON.parse(forgotten.stdout).data.map(({ label }: { label: string }) => label);
  expect(labels.sort()).toEqual(
    ['a.srt', 'c.srt'].flatMap((name) => [`subs/${name} → es`, `subs/${name} → fr`]),
  );
  expect(await statesOf(vloc)).toEqual({
    'subs/b.srt → es': 'failed',
    'subs/b.srt → fr': 'failed',
    'subs/d.srt → es': 'done',
    'subs/d.srt → fr': 'done',
  });
  // Also after the next run, which rewrites the list of its items.
  expect((await vloc.run([...COMMAND, '--retry-failed'])).code).toBe(0);
  expect((await vloc.run(['batch', 'status', 'out'])).code).toBe(0);
});

test('a named input is forgotten in all languages, its results stay, and a later run makes a new job', async () => {
  const vloc = await startBatch({ 'a.srt': SRT, 'b.srt': SRT });
  expect((await vloc.run(COMMAND)).code).toBe(0);
  const forgotten = await vloc.run(['batch', 'forget', 'out', 'subs/a.srt']);
  expect(forgotten.code, forgotten.stderr).toBe(0);
  expect(Object.keys(await statesOf(vloc))).toEqual(['subs/b.srt → es', 'subs/b.srt → fr']);
  expect(await readFile(join(vloc.folder, 'out', 'a.es.srt'), 'utf8')).toContain('HELLO');
  const again = await vloc.run([...COMMAND, '--clobber', '--memory', 'other.db']);
  expect(again.code, again.stderr).toBe(0);
  expect((await vloc.caller.get('/v1/subtitle-translations?limit=50')).json.data).toHaveLength(6);
  expect(Object.keys(await statesOf(vloc))).toHaveLength(4);
});

test('an item whose job is not downloaded is forgotten only with --yes, and none with an input that no item has', async () => {
  const vloc = await startBatch({ 'a.srt': SRT });
  expect((await vloc.run([...COMMAND, '--detach'])).code).toBe(0);
  const refused = await vloc.run(['batch', 'forget', 'out', 'a.srt']);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('nothing was forgotten')]);
  const unknown = await vloc.run(['batch', 'forget', 'out', 'a.srt', 'z.srt', '--yes']);
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('out has no item of z.srt')]);
  await rm(join(vloc.folder, 'subs', 'a.srt'));
  const kept = await vloc.run(['batch', 'forget', 'out', '--gone']);
  expect([kept.code, kept.stderr]).toEqual([0, expect.stringContaining('subs/a.srt → es: kept')]);
  expect(Object.keys(await statesOf(vloc))).toHaveLength(2);
  expect((await vloc.run(['batch', 'forget', 'out', '--gone', '--yes'])).code).toBe(0);
  expect(await vloc.run(['batch', 'report', 'out'])).toMatchObject({ code: 2 });
});

test('a folder with records of two numbers of shards can be run again after one of them was forgotten', async () => {
  const vloc = await startBatch({ 'a.srt': SRT });
  const sharded = [...COMMAND.slice(0, -1), 'other', '--shard', '1/1'];
  expect((await vloc.run(COMMAND)).code).toBe(0);
  expect((await vloc.run(sharded)).code).toBe(0);
  const from = join(vloc.folder, 'other', '.vloc', 'shard-1-of-1');
  await cp(from, join(vloc.folder, 'out', '.vloc', 'shard-1-of-1'), { recursive: true });

  const refused = await vloc.run(COMMAND);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('vloc batch forget DIR --shards 1'),
  ]);
  const forgotten = await vloc.run(['batch', 'forget', 'out', '--shards', '1', '-o', 'json']);
  expect(forgotten.code, forgotten.stderr).toBe(0);
  expect(JSON.parse(forgotten.stdout).data).toHaveLength(2);
  expect(await statesOf(vloc)).toEqual({ 'subs/a.srt → es': 'done', 'subs/a.srt → fr': 'done' });
  const again = await vloc.run(COMMAND);
  expect(again.code, again.stderr).toBe(0);
  expect((await vloc.caller.get('/v1/subtitle-translations?limit=50')).json.data).toHaveLength(4);
  expect(Object.keys(await statesOf(vloc))).toHaveLength(2);
});

test('failed items whose files are excluded or deleted need no one, and are named once more', async () => {
  const files = { 'a.srt': SRT, 'b.srt': SRT.replace('hello', 'other'), 'c.srt': 'no cues' };
  const vloc = await startBatch(files);
  expect((await vloc.run([...COMMAND, '--include', 'a.srt'])).code).toBe(0);
  vloc.engines.failNext(failure(), failure());
  expect((await vloc.run(COMMAND)).code).toBe(3);
  expect((await vloc.run(['batch', 'status', 'out'])).code).toBe(3);
  await rm(join(vloc.folder, 'subs', 'c.srt'));
  const again = await vloc.run([...COMMAND, '--exclude', 'b.srt']);
  expect(again.code, again.stderr).toBe(0);

  const status = await vloc.run(['batch', 'status', 'out', '--fail-on', 'attention', '-o', 'json']);
  const { items, counts, unnamed } = JSON.parse(status.stdout);
  expect([status.code, items, counts], status.stderr).toMatchObject([0, [{}, {}], { done: 2, failed: 0 }]);
  // Of the other, nothing was ever sent.
  expect(unnamed).toEqual(['subs/b.srt → es', 'subs/b.srt → fr']);
  const { stderr } = await vloc.run(['batch', 'status', 'out']);
  expect(stderr).toContain('Not counted, since no command names them any more: subs/b.srt → es');
});
