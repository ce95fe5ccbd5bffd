/** A store of this machine in which the work in the background cannot go on. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startScene } from '../../service/harness/scene.ts';
import { changeStore } from '../../service/harness/stores.ts';
import { startVloc } from '../support/run-vloc.ts';

const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';
const TRANSLATE = ['translate', 'a.srt', '--from', 'en', '--to', 'es'];

test('an error that comes back each time the service looks for jobs ends the command', async () => {
  const { folder, run } = await startVloc();
  const state = join(folder, 'own');
  await writeFile(join(folder, 'a.srt'), SRT);
  await (await startScene({ stateDir: state })).service.close();
  changeStore(state, 'DROP TABLE turns');
  const env = { VLOC_BASE_URL: '', VLOC_KEY: '', VLOC_SECRET: '', VLOC_STATE_DIR: state };
  const { code, stderr } = await run([...TRANSLATE, '--profile', 'local'], { env });
  expect([code, stderr]).toEqual([1, expect.stringContaining('internal error: no such table: turns\n')]);
});
