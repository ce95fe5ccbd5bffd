/** Runs the example of docs/library.md unchanged, in its own process, against the service. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { verifyWebhook } from '../../src/client/index.ts';
import { environmentOf } from '../commands/support/run-vloc.ts';
import { startScene } from '../service/harness/scene.ts';
import { videoOf } from '../service/harness/small-engines.ts';
import { makeFolder } from '../support/make-folder.ts';
import { eventBody, sign } from './webhooks/sign.ts';

const page = await readFile(new URL('../../docs/library.md', import.meta.url), 'utf8');

/** The block of code, with the package's own sources instead of the package. */
function readExample(): string {
  const [, code = ''] = /^```ts\n([\s\S]*?)^```$/m.exec(page) ?? [];
  const sources = new URL('../../src/client/index.ts', import.meta.url);
  const example = code.replace("from 'vloc';", `from '${sources}';`);
  if (example === code) throw new Error('docs/library.md has no example that imports vloc');
  return example;
}

test('the example of docs/library.md localizes a video', async () => {
  const scene = await startScene();
  const folder = makeFolder();
  await writeFile(join(folder, 'example.ts'), readExample());
  await writeFile(join(folder, 'talk.mp4'), videoOf(60));
  const env = { ...process.env, ...environmentOf(scene, folder) };
  await promisify(execFile)(process.execPath, ['example.ts'], { cwd: folder, env });
  // The small engines give the video back as it was.
  expect(await readFile(join(folder, 'talk.es.mp4'))).toEqual(videoOf(60));
  const { json } = await scene.caller.get('/v1/auto-localizations');
  expect(json.data).toMatchObject([{ status: 'succeeded' }]);
});

test('the call of `verifyWebhook` on that page accepts only genuine deliveries', () => {
  expect(page).toContain('`verifyWebhook({ body, headers }, { secret })`');
  const secret = 'whsec_example';
  const { body, headers } = sign(eventBody('loc_1'), { secret, at: Math.floor(Date.now() / 1000) });
  expect(verifyWebhook({ body, headers }, { secret }).job.id).toBe('loc_1');
  expect(() => verifyWebhook({ body, headers }, { secret: 'another' })).toThrow(/signature/);
});
