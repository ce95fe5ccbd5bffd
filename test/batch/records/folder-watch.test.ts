import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { watchFolder } from '../../../src/batch/records/folder-watch.ts';
import { makeFolder } from '../../support/make-folder.ts';

/** Longer than any test may take: a waiter that reaches it was not notified. */
const NEVER_MS = 10 * 60_000;

it('a watch reports wanted names that appear and disappear, also one that appeared while nobody waited', async () => {
  const folder = makeFolder();
  const watch = watchFolder(folder, (name) => name === 'wanted');
  const came = watch.changed(NEVER_MS);
  writeFileSync(join(folder, 'wanted'), '');
  await came;
  rmSync(join(folder, 'wanted'));
  await watch.changed(NEVER_MS);
  watch.close();
});

it('a watch ignores other names and heartbeats', async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'wanted'), '');
  const watch = watchFolder(folder, (name) => name === 'wanted');
  const others = watchFolder(folder, (name) => name === 'other' || name === 'last');
  // The write above may still be reported, but before that of another file.
  writeFileSync(join(folder, 'other'), '');
  await others.changed(NEVER_MS);
  await watch.changed(0);
  utimesSync(join(folder, 'wanted'), 0, 0);
  writeFileSync(join(folder, 'last'), '');
  const stop = new AbortController();
  const waiting = watch.changed(NEVER_MS, stop.signal);
  // Both get the changes of the folder in their order.
  await others.changed(NEVER_MS);
  stop.abort(new Error('nothing was told'));
  await expect(waiting).rejects.toThrow('nothing was told');
  watch.close();
  others.close();
});

it('waiting for a folder that cannot be watched ends at the time limit', async () => {
  const watch = watchFolder(join(makeFolder(), 'none'), () => true);
  await expect(watch.changed(1)).resolves.toBeUndefined();
  watch.close();
});
