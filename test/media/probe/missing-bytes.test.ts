import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { missingBytes } from '../../../src/media/probe/inspect.ts';
import { makeFolder } from '../../support/make-folder.ts';

/** A box with that many bytes of content, with a size of 32 or 64 bits. */
function box(type: string, content: number, isLong = false): Buffer {
  const head = Buffer.alloc(isLong ? 16 : 8);
  head.writeUInt32BE(isLong ? 1 : 8 + content, 0);
  head.write(type, 4, 'latin1');
  if (isLong) head.writeBigUInt64BE(BigInt(16 + content), 8);
  return Buffer.concat([head, Buffer.alloc(content)]);
}

function missingOf(...parts: readonly Uint8Array[]): Promise<number> {
  const file = join(makeFolder(), 'a.mp4');
  writeFileSync(file, Buffer.concat(parts));
  return missingBytes(file);
}

const START = [box('ftyp', 16), box('moov', 100)];

describe('the missing bytes of a video', () => {
  it('are those that its last box lacks', async () => {
    expect(await missingOf(...START, box('mdat', 1000))).toBe(0);
    expect(await missingOf(...START, box('mdat', 1000).subarray(0, -1))).toBe(1);
    expect(await missingOf(...START, box('mdat', 1000, true).subarray(0, 16))).toBe(1000);
    expect(await missingOf(...START, box('mdat', 10), box('moof', 50).subarray(0, 40))).toBe(18);
  });

  it('are zero if the media extends to the end, or something else follows it', async () => {
    const endless = box('mdat', 1000);
    endless.writeUInt32BE(0, 0);
    expect(await missingOf(...START, endless)).toBe(0);
    const media = box('mdat', 1000);
    expect(await missingOf(...START, media, Buffer.from('TRAILER of a camera, no box at all'))).toBe(0);
    expect(await missingOf(...START, media, Buffer.alloc(5))).toBe(0);
    expect(await missingOf(...START, media, Buffer.alloc(64))).toBe(0);
    expect(await missingOf(Buffer.alloc(0))).toBe(0);
  });

  it('are counted for any cut within the media', async () => {
    const file = Buffer.concat([...START, box('free', 3), box('mdat', 300, true)]);
    const start = file.length - 316;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: start + 16, max: file.length }), async (length) => {
        expect(await missingOf(file.subarray(0, length))).toBe(file.length - length);
      }),
      { numRuns: 30 },
    );
  });
});
