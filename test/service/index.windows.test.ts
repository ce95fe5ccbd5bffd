/** The service on the disk of Windows, as far as Linux can tell. */
import { chmod, copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../support/make-folder.ts';
import { syncAsOnWindows } from '../support/sync-as-on-windows.ts';
import { readySource, startScene, untilJob } from './harness/scene.ts';

it('accepts an upload and stores the result of a job', async () => {
  await syncAsOnWindows();
  const { caller, stateDir } = await startScene();
  const created = await caller.post('/v1/audio-separations', { source: await readySource(caller) });
  const { status } = await untilJob(caller, created.json, 'succeeded', 'failed');
  expect(status).toBe('succeeded');
  expect(await readdir(join(stateDir, 'assets'))).toHaveLength(1);
});

it('upgrades an account of an older version', async () => {
  await syncAsOnWindows();
  const stateDir = makeFolder();
  const old = fileURLToPath(new URL('../fixtures/version-0.1/service/service.sqlite', import.meta.url));
  await copyFile(old, join(stateDir, 'service.sqlite'));
  const { caller } = await startScene({ stateDir });
  expect((await caller.get('/v1/credits')).status).toBe(200);
});

it('has no modes of files to warn about', async () => {
  const stateDir = makeFolder();
  await chmod(stateDir, 0o777);
  const warnings = async () =>
    (await startScene({ stateDir })).logged.filter(({ level }) => level === 'warn');
  expect(await warnings()).toEqual([
    expect.objectContaining({ message: expect.stringContaining('chmod 700') }),
  ]);
  const { platform } = process;
  onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }));
  Object.defineProperty(process, 'platform', { value: 'win32' });
  expect(await warnings()).toEqual([]);
});
