/** What a run of tests leaves on the machine when it is killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until } from '../service/harness/scene.ts';

const PROGRAM = `
  const { afterDeath } = await import(process.argv[1]);
  const end = afterDeath('rmdir "$1"', [process.argv[2]]);
  if (process.argv[3] === 'ends') end();
  else setInterval(() => {}, 1000);
  process.stdout.write('ready');`;

/** Starts a process that leaves a folder, which the shell removes after it. */
async function startLeaving(how: 'ends' | 'stays') {
  const folder = mkdtempSync(join(tmpdir(), 'left-'));
  const words = [
    '--input-type=module',
    '-e',
    PROGRAM,
    '--',
    join(import.meta.dirname, '../support/after-death.ts'),
  ];
  const child = spawn(process.execPath, [...words, folder, how], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  return { folder, child, ended };
}

it('is removed after the process that made it, also if that was killed', async () => {
  const { folder, child } = await startLeaving('stays');
  expect(existsSync(folder)).toBe(true);
  child.kill('SIGKILL');
  await until(
    () => existsSync(folder),
    (isThere) => !isThere,
  );
});

it('is left to a process that removes it itself, which need not wait for the shell', async () => {
  const { folder, ended } = await startLeaving('ends');
  expect(await ended).toEqual([0, null]);
  expect(existsSync(folder)).toBe(true);
});
