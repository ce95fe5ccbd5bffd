/** Installs that end in the middle: killed, side by side, and on a disk that is full. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { hashFile } from '../../../src/base/hash-file.ts';
import { parseCatalog } from '../../../src/engines/models/catalog.ts';
import { inspectModel } from '../../../src/engines/models/store.ts';
import { writeTinyCatalog } from '../../support/tiny-catalog.ts';
import { type ModelsDesk, openModelsDesk } from './desk.ts';

const HOST = fileURLToPath(new URL('./models-process.ts', import.meta.url));

let desk: ModelsDesk;
let catalog = '';
beforeEach(async () => {
  desk = await openModelsDesk();
  catalog = join(desk.folder, 'catalog.json');
  writeFileSync(catalog, JSON.stringify(writeTinyCatalog(join(desk.folder, 'others'))));
});

const ALL = ['install', '--from', 'es', '--to', 'en', '--yes'];

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  readonly stderr: () => string;
}

function start(words: readonly string[]): Started {
  const child = spawn(process.execPath, [HOST, catalog, 'models', ...words], {
    env: desk.env,
    cwd: desk.folder,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, ended, stderr: () => text };
}

describe('an install that is killed', () => {
  const has = (name: string) => () => existsSync(join(desk.models, name));

  it.each<[string, (started: Started) => boolean]>([
    ['when a file is there', has('.tiny-voice/lexicon.txt')],
    ['during the trial', ({ stderr }) => stderr().includes('Trying')],
  ])('%s leaves nothing half-installed, and the next one succeeds', async (_, isTime) => {
    desk.hub.setFaults({ slow: 20 });
    const started = start(ALL);
    await expect.poll(() => isTime(started), { interval: 2 }).toBe(true);
    started.child.kill('SIGKILL');
    await started.ended;
    for (const model of parseCatalog(writeTinyCatalog(join(desk.folder, 'others')))) {
      const { state } = await inspectModel(desk.models, model);
      expect(['absent', 'complete']).toContain(state);
      if (state === 'absent') continue;
      for (const { path, sha256 } of model.files)
        expect(await hashFile(join(desk.models, model.id, path))).toBe(sha256);
    }
    expect(desk.engines()).toBeNull();
    desk.hub.setFaults({});
    const { code, stderr } = await desk.run(ALL);
    expect([code, stderr]).toEqual([0, expect.stringContaining('Saved in')]);
    expect(desk.names()).toEqual(['tiny-ears', 'tiny-voice']);
  });
});

it('a second install at the same time is refused and names the first', async () => {
  desk.hub.setFaults({ slow: 100 });
  const first = start(ALL);
  await expect.poll(() => desk.hub.log.length).toBeGreaterThan(0);
  const { code, stderr } = await desk.run(ALL);
  expect(code).toBe(7);
  expect(stderr).toContain(
    `another vloc changes the models in ${desk.models}: process ${first.child.pid} on `,
  );
  expect(await first.ended).toBe(0);
  expect((await desk.run(ALL)).code).toBe(0);
});

/** Mounting takes rights that few users have, containers included. */
function mountSmallDisk(folder: string, bytes: number): boolean {
  mkdirSync(folder);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]).status !== 0) return false;
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
  return true;
}

describe('a disk that is full', () => {
  it('is noticed before the download', async ({ skip }) => {
    if (!mountSmallDisk(desk.models, 100 * 1024)) skip('this user may not mount a disk');
    const { code, stderr } = await desk.run(['install', 'tiny-voice', '--yes']);
    expect(code).toBe(10);
    expect(stderr).toMatch(
      /the models need 2\d\d kB more, and \S+ has \d+(\.\d)? kB free; nothing was downloaded/,
    );
    expect(stderr).toContain('VLOC_MODELS');
    expect(desk.hub.log).toEqual([]);
  });

  it('ends a download that it has no room for any more, and the next one continues', async ({ skip }) => {
    if (!mountSmallDisk(desk.models, 400 * 1024)) skip('this user may not mount a disk');
    desk.hub.setFaults({ only: 'model.onnx', slow: 300 });
    const started = start(['install', 'tiny-voice', '--yes']);
    await expect.poll(() => desk.hub.log.length).toBeGreaterThan(0);
    const filler = join(desk.models, 'filler');
    spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4096']);
    expect(await started.ended).toBe(10);
    expect(started.stderr()).toMatch(/the disk is full|Free some space/);
    expect(desk.engines()).toBeNull();
    spawnSync('rm', [filler]);
    desk.hub.setFaults({});
    expect((await desk.run(['install', 'tiny-voice', '--yes'])).code).toBe(0);
  });
});
