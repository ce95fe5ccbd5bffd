import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createInputs } from '../../../src/base/find-input.ts';
import { publish, rowsIn } from '../../../src/batch/deliver/publish.ts';
import { readResults } from '../../../src/batch/records/other-journals.ts';
import { openBatchJournal } from '../../../src/batch/run/journal.ts';
import { partOf } from '../../../src/client/download/part-file.ts';
import { failureOf } from '../../client/support/harness.ts';
import { makeFolder } from '../../support/make-folder.ts';

const OWNER = { item: 'talk', step: 'result' } as const;

/** Two files that get their names in a folder with records. */
async function startPlaces() {
  const folder = makeFolder();
  const journal = await openBatchJournal({ folder });
  onTestFinished(() => journal.close());
  const paths = ['talk.vocals.wav', 'talk.background.wav'].map((name) => join(folder, name));
  /** Publishes both with this content. @param end takes the place of the last step */
  async function put(
    content: string,
    { overwrite = false, end }: { overwrite?: boolean; end?: () => Promise<void> } = {},
  ) {
    const made = await mkdtemp(join(folder, '.vloc', 'made-'));
    const sha256 = createHash('sha256').update(content).digest('hex');
    const rows = rowsIn(journal, OWNER, { made: content });
    const files = paths.map((path) => ({ path, size: content.length, sha256 }));
    const outputs = files.map((file, place) => ({ from: join(made, `${place}`), file }));
    for (const { from } of outputs) await writeFile(from, content);
    await publish(outputs, { rows, overwrite }, end ?? (() => journal.add(rows.placed(files))));
  }
  const read = () => Promise.all(paths.map((path) => readFile(path, 'utf8').catch(() => null)));
  return { folder, journal, paths, put, read };
}

const killed = () => Promise.reject(new Error('killed'));

it('a file of the user named like the result with .part is left alone', async () => {
  const { paths, put, read } = await startPlaces();
  await writeFile(`${paths[0]}.part`, 'somebody else wrote this');
  await put('result', { overwrite: true });
  expect(await read()).toEqual(['result', 'result']);
  expect(await readFile(`${paths[0]}.part`, 'utf8')).toBe('somebody else wrote this');
});

it('files of a run that was killed before it settled them are replaced by others, as are those before them', async () => {
  const { paths, put, read, journal } = await startPlaces();
  await put('first');
  await expect(put('second', { end: killed })).rejects.toThrow('killed');
  // The run was killed between the two files.
  await writeFile(paths[1] ?? '', 'first');
  await put('third');
  expect(await read()).toEqual(['third', 'third']);
  for (const path of paths) expect(journal.findOutputs({ path }).map(({ made }) => made)).toEqual(['third']);
});

it('of several files none gets its name if one has that of a file of the user', async () => {
  const { paths, put, read, journal } = await startPlaces();
  await writeFile(paths[1] ?? '', 'mine');
  expect((await failureOf(put('result'))).facts.code).toBe('TARGET_EXISTS');
  expect(await read()).toEqual([null, 'mine']);
  expect(journal.findOutputs({})).toEqual([]);
});

it('an earlier version that the user has brought back is one of the user', async () => {
  const { paths, put, read } = await startPlaces();
  await put('first');
  await put('second');
  await writeFile(paths[0] ?? '', 'first');
  expect((await failureOf(put('third'))).facts.code).toBe('TARGET_EXISTS');
  expect(await read()).toEqual(['first', 'second']);
});

it('a file that a run was killed after it had named it is a result, not an input of the next run', async () => {
  const { folder, journal, paths, put } = await startPlaces();
  await expect(put('result', { end: killed })).rejects.toThrow('killed');
  expect([...(await readResults({ folder }, journal))].toSorted()).toEqual(paths.toSorted());
});

it('a folder in the place of a result is left alone', async () => {
  const { folder, paths, put } = await startPlaces();
  await mkdir(paths[0] ?? '');
  expect((await failureOf(put('result'))).facts.code).toBe('TARGET_EXISTS');
  expect((await readdir(folder)).toSorted()).toEqual(['.vloc', 'talk.vocals.wav']);
});

it('a file that has its name is only settled, and what a killed run left beside it is removed', async () => {
  const { paths, put, read, journal } = await startPlaces();
  await put('result');
  const [path = ''] = paths;
  const { ino } = await stat(path);
  await put('result');
  expect((await stat(path)).ino).toBe(ino);
  await writeFile(partOf(path), 'result');
  const rows = rowsIn(journal, OWNER, { made: 'again' });
  const placing = {
    rows: { ...rows, add: () => Promise.reject(new Error('nothing is due')) },
    overwrite: false,
  };
  const settled: string[] = [];
  const file = { path, size: 6, sha256: '' };
  await publish([{ from: null, file }], placing, async () => void settled.push(path));
  expect(settled).toEqual([path]);
  expect(await read()).toEqual(['result', 'result']);
  await expect(stat(partOf(path))).rejects.toThrow('ENOENT');
});

it.each([
  ['result', (path: string) => path],
  ['part of a result', partOf],
])('an input in the place of a %s is left alone, even with the same bytes', async (_, nameOf) => {
  const { folder, journal, paths, read } = await startPlaces();
  const [path = ''] = paths;
  const input = nameOf(path);
  const from = join(folder, '.vloc', 'made');
  for (const each of [input, from]) await writeFile(each, 'result');
  const sha256 = createHash('sha256').update('result').digest('hex');
  const placing = { rows: rowsIn(journal, OWNER, { made: 'result' }), overwrite: true };
  const publishing = publish(
    [{ from, file: { path, size: 6, sha256 } }],
    {
      ...placing,
      findInput: createInputs([input]).find,
    },
    killed,
  );
  expect((await failureOf(publishing)).facts.code).toBe('TARGET_IS_INPUT');
  expect(await readFile(input, 'utf8')).toBe('result');
  expect(await read()).toEqual([input === path ? 'result' : null, null]);
});

it.each([
  ['a file made here leaves nothing when its name was taken meanwhile', false],
  ['a download keeps its part when its name was taken meanwhile', true],
])('%s', async (_, isDownload) => {
  const { folder, journal, paths } = await startPlaces();
  const [path = ''] = paths;
  const from = isDownload ? partOf(path) : join(folder, '.vloc', 'made');
  await writeFile(from, 'result');
  const rows = { ...rowsIn(journal, OWNER, { made: 'result' }), add: () => writeFile(path, 'mine') };
  const file = { path, size: 6, sha256: createHash('sha256').update('result').digest('hex') };
  const ended = await failureOf(publish([{ from, file }], { rows, overwrite: false }, killed));
  expect(ended.facts.code).toBe('TARGET_EXISTS');
  expect(await readFile(path, 'utf8')).toBe('mine');
  const left = await readFile(partOf(path), 'utf8').catch(() => null);
  expect(left).toBe(isDownload ? 'result' : null);
});
