/** An ffmpeg that is too old is refused before anything is sent or paid. */
import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { oldFfmpegPath } from '../../support/old-ffmpeg.ts';
import { startStaging } from '../stages/staging.ts';

const REFUSED = /ffmpeg 4\.4\.2, and the oldest that works is \d+\.\d+; nothing was sent/;

const NEEDS_FFMPEG: readonly (readonly [string, readonly string[]])[] = [
  ['localize with the embedded service', ['localize', 'talk.mp4', '--to', 'es', '--profile', 'local']],
  [
    'an export in stages',
    ['localize', 'talk.mp4', '--from', 'en', '--to', 'es', '--source-subtitle', 'en.srt'],
  ],
  ['a conversion', ['recognize', 'talk.mp4', '--convert']],
  ['a split', ['recognize', 'talk.mp4', '--split']],
  ['tracks of the original', ['localize', 'talk.mp4', '--to', 'es', '--keep-audio']],
];

test('work that needs ffmpeg refuses one that is too old before it sends anything', async () => {
  const operations: unknown[] = [];
  const vloc = await startStaging({ onRequest: ({ operationId }) => operations.push(operationId) });
  await writeFile(vloc.path('en.srt'), '1\n00:00:00,000 --> 00:00:01,000\nhello\n');
  const env = { PATH: oldFfmpegPath() };
  for (const [what, words] of NEEDS_FFMPEG) {
    const { code, stderr } = await vloc.run([...words, '--out', 'out'], { env });
    expect(stderr, what).toMatch(REFUSED);
    expect([what, code, operations]).toEqual([what, 4, []]);
  }
});

test('a video that a remote service takes as it is needs no ffmpeg of this machine', async () => {
  const vloc = await startStaging();
  const env = { PATH: oldFfmpegPath() };
  const { code, stderr } = await vloc.run(['recognize', 'talk.mp4', '--out', 'out'], { env });
  expect(code, stderr).toBe(0);
});
