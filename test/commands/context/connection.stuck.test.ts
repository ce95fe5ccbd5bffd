/** A store of this machine in which the work in the background cannot go on. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startScene } from '../../service/harness/scene.ts';
import { changeStore } from '../../service/harness/stores.ts';
import { startVloc } from '../support/run-vloc.ts';

const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';
const TRANSLATE = ['translate', 'a.srt', '--from', 'en', '--to', 'es'];
const UPLOAD = ['upload', 'a.srt'];

const refuse = (change: string) =>
  `CREATE TRIGGER refuse BEFORE ${change} BEGIN SELECT RAISE(ABORT, 'a disk of clay'); END`;

test.each([
  ['looks for jobs', TRANSLATE, 'DROP TABLE turns', 'no such table: turns'],
  ['charges a job', TRANSLATE, refuse('INSERT ON ledger'), 'a disk of clay'],
  ['records what an upload is', UPLOAD, refuse('UPDATE OF subtitle ON uploads'), 'a disk of clay'],
])(
  'an error that comes back each time the service %s ends the command',
  async (_, words, damage, message) => {
    const { folder, run } = await startVloc();
    const state = join(folder, 'own');
    await writeFile(join(folder, 'a.srt'), SRT);
    await (await startScene({ stateDir: state })).service.close();
    changeStore(state, damage);
    const env = { VLOC_BASE_URL: '', VLOC_KEY: '', VLOC_SECRET: '', VLOC_STATE_DIR: state };
    const { code, stderr } = await run([...words, '--profile', 'local'], { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining(`internal error: ${message}\n`)]);
  },
);
