/** A service that states neither size nor hash of a result, and jobs that another machine has made. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT_CODES } from '../../../src/base/exit-codes.ts';
import { createAsk } from '../../hosted/caller.ts';
import { openHosted } from '../../hosted/run-hosted.ts';
import { VARIANTS } from '../../hosted/variants.ts';

const LINES = [{ index: 1, start_ms: 0, end_ms: 1000, text: 'hello' }];

/** A finished job, and the command that downloads it. */
async function openScene() {
  const scene = await openHosted(VARIANTS.minimal, new Set(), { jobMs: () => 0 });
  const ask = createAsk(scene.hosted.baseUrl, scene.hosted.account);
  const request = { subtitle: { type: 'lines', lines: LINES }, target_language: 'es' };
  const { json } = await ask('POST', '/v1/dubbings', request);
  const out = join(scene.folder, 'out');
  const job = scene.hosted.jobs.get(json.id);
  if (job === undefined) throw new Error('the service has made the job');
  const download = (...flags: string[]) =>
    scene.run(['jobs', 'download', `dubbings/${json.id}`, '--out', out, '-o', 'json', ...flags]);
  return { ...scene, job, out, download };
}

test('a foreign file at its path is not changed: a result without a language gets another name beside it', async () => {
  const { job, out, download } = await openScene();
  await download();
  const [name = ''] = await readdir(out);
  await writeFile(join(out, name), 'mine');
  expect((await download()).code).toBe(EXIT_CODES.done.code);
  expect(await readFile(join(out, name), 'utf8')).toBe('mine');
  expect(await readdir(out)).toContain(name.replace('.wav', '.und.wav'));
  expect((await download('--clobber')).code).toBe(EXIT_CODES.done.code);
  expect((await readFile(join(out, name))).equals(job.files.audio?.bytes ?? Buffer.alloc(0))).toBe(true);
});
