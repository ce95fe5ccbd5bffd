import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withTargets } from '../../../src/batch/deliver/deliver-results.ts';
import { failureOf } from '../../client/support/harness.ts';
import { makeFolder } from '../../support/make-folder.ts';

const TARGET = '/results/talk.es.srt';

test('a file that one delivery is fetching is fetched by another only afterwards', async () => {
  const stateDir = makeFolder();
  await withTargets(stateDir, ['/results/other.srt', TARGET], async () => {
    const { facts } = await failureOf(withTargets(stateDir, [TARGET], async () => undefined));
    expect(facts).toMatchObject({ category: 'temporary', code: 'FILE_LOCKED', retryable: true });
    expect(facts.message).toContain(TARGET);
  });
  expect(await withTargets(stateDir, [TARGET], async () => 'fetched')).toBe('fetched');
  expect(await readdir(join(stateDir, 'downloads'))).toEqual([]);
});

test('work that fails releases the files', async () => {
  const stateDir = makeFolder();
  const failing = withTargets(stateDir, [TARGET], () => Promise.reject(new Error('broken')));
  await expect(failing).rejects.toThrow('broken');
  expect(await withTargets(stateDir, [TARGET], async () => 'fetched')).toBe('fetched');
});

test('a state folder that supports no locks does not prevent a delivery', async () => {
  const stateDir = join(makeFolder(), 'state');
  await writeFile(stateDir, 'a file');
  expect(await withTargets(stateDir, [TARGET], async () => 'fetched')).toBe('fetched');
});
