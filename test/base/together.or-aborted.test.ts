import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { orAborted } from '../../src/base/together.ts';

test('a promise that fails after its signal has aborted is no unhandled rejection', async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  const late = Promise.reject(new Error('late'));
  await expect(orAborted(late, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
  await nextTurn();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});
