import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createWav, openWav, parseWavHeader, wavHeader } from '../../../src/media/audio/wav.ts';
import { makeFolder } from '../../support/make-folder.ts';

const format = fc.record({
  sampleRate: fc.integer({ min: 8_000, max: 192_000 }),
  channels: fc.integer({ min: 1, max: 8 }),
});

describe('the header of a WAV file', () => {
  test('is read as it was written', () => {
    fc.assert(
      fc.property(format, fc.integer({ min: 0, max: 2 ** 31 }), (wanted, dataBytes) => {
        const read = parseWavHeader(wavHeader(wanted, dataBytes), 44 + dataBytes);
        expect(read).toEqual({ ...wanted, dataStart: 44, dataBytes });
      }),
    );
  });

  test('may have other chunks, of odd length too, before the samples', () => {
    const header = wavHeader({ sampleRate: 8_000, channels: 1 }, 4);
    const note = Buffer.concat([Buffer.from('note'), Buffer.from([3, 0, 0, 0]), Buffer.from('abc\0')]);
    const file = Buffer.concat([header.subarray(0, 36), note, header.subarray(36), Buffer.alloc(4)]);
    expect(parseWavHeader(file, file.length)).toMatchObject({ dataStart: 56, dataBytes: 4 });
  });

  test('never promises more samples than the file has', () => {
    expect(parseWavHeader(wavHeader({ sampleRate: 8_000, channels: 1 }, 2 ** 31), 50).dataBytes).toBe(6);
  });

  test('of random bytes is refused with an error, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(() => parseWavHeader(Buffer.from(bytes), bytes.length)).toThrow(Error);
      }),
    );
  });
});

describe('a WAV file', () => {
  const samples = fc.array(fc.integer({ min: -32_768, max: 32_767 }), { minLength: 1, maxLength: 300 });

  test('returns what was written, at any position, and silence around it', async () => {
    const folder = makeFolder();
    const path = join(folder, 'a.wav');
    const range = fc.record({
      from: fc.integer({ min: -20, max: 320 }),
      count: fc.integer({ min: 1, max: 50 }),
    });
    await fc.assert(
      fc.asyncProperty(samples, range, async (values, { from, count }) => {
        const writer = await createWav(path, { sampleRate: 48_000, channels: 1 });
        const half = Math.floor(values.length / 2);
        await writer.write(Int16Array.from(values.slice(0, half)));
        await writer.write(Int16Array.from(values.slice(half)));
        expect(writer.frames).toBe(values.length);
        await writer.close();
        const reader = await openWav(path);
        const read = [...(await reader.read(from, count))];
        await reader.close();
        expect(read).toEqual(Array.from({ length: count }, (_, at) => values[from + at] ?? 0));
      }),
      { numRuns: 60 },
    );
  });

  test('with another format is refused when it is opened', async () => {
    const path = join(makeFolder(), 'a.wav');
    writeFileSync(path, 'not sound');
    await expect(openWav(path)).rejects.toThrow('not a WAV file');
  });
});
