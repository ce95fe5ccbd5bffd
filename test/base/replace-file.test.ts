import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { draftPath, replaceFile } from '../../src/base/replace-file.ts';
import { makeFolder } from '../support/make-folder.ts';

/** A process that has begun a draft in the folder. */
async function startWriter(folder: string) {
  const module = new URL('../../src/base/replace-file.ts', import.meta.url).href;
  const script = `
    const { draftPath } = await import(${JSON.stringify(module)});
    const path = draftPath(${JSON.stringify(folder)});
    (await import('node:fs')).writeFileSync(path, 'half');
    process.stdout.write(path);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  onTestFinished(() => void child.kill('SIGKILL'));
  const [path] = await once(child.stdout, 'data');
  return { name: basename(String(path)), child };
}

it('a file is replaced with its permissions, and no draft stays', async () => {
  const path = join(makeFolder(), 'talk.srt');
  writeFileSync(path, 'old');
  chmodSync(path, 0o640);
  await replaceFile(path, 'new');
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['new', 0o640]);
  expect(readdirSync(join(path, '..'))).toEqual(['talk.srt']);
});

it('the draft of a process that was killed is removed by the next one, that of a process at work stays', async () => {
  const folder = makeFolder();
  const [killed, atWork] = [await startWriter(folder), await startWriter(folder)];
  killed.child.kill('SIGKILL');
  await once(killed.child, 'exit');
  await replaceFile(join(folder, 'talk.srt'), 'new');
  expect(readdirSync(folder).toSorted()).toEqual([atWork.name, 'talk.srt'].toSorted());
});

it('a draft of another machine, of a recycled pid, and files of others are told apart', async () => {
  const folder = makeFolder();
  const own = basename(draftPath(folder));
  const elsewhere = own.replace(/^\.vloc-[0-9a-f]{8}-\d+/, `.vloc-00000000-${2 ** 22 + 1}`);
  const recycled = own.replace(/-(\d+)-(\d*)-/, '-$1-1-');
  const others = ['.vloc-mine.part', 'talk.part', '.vloc'];
  for (const name of [own, elsewhere, recycled, ...others]) writeFileSync(join(folder, name), '');
  await replaceFile(join(folder, 'talk.srt'), 'new');
  const isKnown = /-\d+-\d+-/.test(own); // not on every system
  const kept = [own, elsewhere, ...others, 'talk.srt', ...(isKnown ? [] : [recycled])];
  expect(readdirSync(folder).toSorted()).toEqual(kept.toSorted());
});
