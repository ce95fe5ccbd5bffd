import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { placeFile } from '../../../src/batch/deliver/result-file.ts';

it('a file of the user named like the result with .part is left alone', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vloc-place-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [made, target] = [join(folder, 'made'), join(folder, 'talk.es.mp4')];
  await writeFile(made, 'result');
  await writeFile(`${target}.part`, 'somebody else wrote this');
  await placeFile(made, target, true);
  expect((await readdir(folder)).sort()).toEqual(['talk.es.mp4', 'talk.es.mp4.part']);
  expect(await readFile(target, 'utf8')).toBe('result');
  expect(await readFile(`${target}.part`, 'utf8')).toBe('somebody else wrote this');
});
