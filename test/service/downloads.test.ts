import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRange } from '../../src/service/downloads.ts';
import { send } from './harness/caller.ts';
import { readySource, type Scene, startScene, untilJob } from './harness/scene.ts';

async function makeVocals(scene: Scene) {
  const source = await readySource(scene.caller);
  const created = await scene.caller.post('/v1/audio-separations', { source });
  const job = await untilJob(scene.caller, created.json, 'succeeded');
  return { job, asset: job.result.vocal_audio };
}

test('a result is sent whole, with its length, its type and its hash as ETag', async () => {
  const scene = await startScene();
  const { asset } = await makeVocals(scene);
  const whole = await send(asset.url);
  expect(whole.status).toBe(200);
  expect(whole.headers).toMatchObject({
    'content-length': String(asset.size_bytes),
    'content-type': 'audio/wav',
    'accept-ranges': 'bytes',
    etag: `"${asset.sha256}"`,
    'x-content-type-options': 'nosniff',
  });
  expect(whole.headers['content-disposition']).toMatch(/^attachment; filename="sep_\w+\.vocals\.wav"$/);
  const head = await send(asset.url, { method: 'HEAD' });
  expect([head.status, head.headers['content-length'], head.bytes.length]).toEqual([
    200,
    String(asset.size_bytes),
    0,
  ]);
});

test.each([
  [undefined, { type: 'whole' }],
  ['bytes=0-9', { type: 'part', start: 0, length: 10 }],
  ['bytes=0-0', { type: 'part', start: 0, length: 1 }],
  ['bytes=90-', { type: 'part', start: 90, length: 10 }],
  ['bytes=90-1000', { type: 'part', start: 90, length: 10 }],
  ['bytes=-1', { type: 'part', start: 99, length: 1 }],
  ['bytes=-1000', { type: 'part', start: 0, length: 100 }],
  ['bytes=100-', { type: 'unsatisfiable' }],
  ['bytes=-0', { type: 'unsatisfiable' }],
  ['bytes=5-4', { type: 'whole' }],
  ['bytes=-', { type: 'whole' }],
  ['bytes=0-1,5-6', { type: 'whole' }],
  ['lines=0-1', { type: 'whole' }],
  ['bytes=a-b', { type: 'whole' }],
  ['bytes=9999999999999999-', { type: 'whole' }],
])('of 100 bytes, %s is %o', (header, part) => {
  expect(readRange(header, 100)).toEqual(part);
});

test('a part is within the file, whatever range is requested', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), fc.nat(), fc.nat(), (junk, first, last, size) => {
      for (const header of [`bytes=${first}-${last}`, `bytes=-${last}`, `bytes=${first}-`, `bytes=${junk}`]) {
        const part = readRange(header, size);
        if (part.type !== 'part') continue;
        expect(part.start).toBeGreaterThanOrEqual(0);
        expect(part.length).toBeGreaterThan(0);
        expect(part.start + part.length).toBeLessThanOrEqual(size);
      }
    }),
  );
});
