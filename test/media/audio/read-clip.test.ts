import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkSpeech, readClip, readSpeech } from '../../../src/media/audio/read-clip.ts';
import { wavHeader } from '../../../src/media/audio/wav.ts';
import { ffmpeg, programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

const signal = new AbortController().signal;
const read = (bytes: Buffer, folder = makeFolder()) => readClip(bytes, programs, { folder, signal });

/** Half a second of a tone in the left channel of two. */
function tone(ending: string, ...options: string[]): Buffer {
  const file = join(makeFolder(), `tone.${ending}`);
  ffmpeg('-f', 'lavfi', '-i', 'sine=440:duration=0.5:sample_rate=24000', '-ac', '1', ...options, file);
  return readFileSync(file);
}

const peak = (samples: Int16Array) => Math.max(...samples.map(Math.abs));

describe('a WAV', () => {
  test('of 16 bits is read without another program', async () => {
    const folder = join(makeFolder(), 'missing');
    const clip = await readClip(tone('wav', '-c:a', 'pcm_s16le'), programs, { folder, signal });
    expect(clip.sampleRate).toBe(24_000);
    expect(clip.samples).toHaveLength(12_000);
    expect(peak(clip.samples)).toBeGreaterThan(3_800);
    expect(peak(clip.samples)).toBeLessThan(4_400);
  });

  test('of several channels is reduced to their mean', async () => {
    const samples = Buffer.from(Int16Array.from([1000, 3000, -8, -10]).buffer);
    const wav = Buffer.concat([wavHeader({ sampleRate: 8_000, channels: 2 }, 8), samples]);
    expect(await read(wav)).toEqual({ samples: Int16Array.from([2000, -9]), sampleRate: 8_000 });
  });

  test.each([0, 0xffffffff, 0x7fffffff])('may declare a length of %i, as a stream does', async (size) => {
    const wav = Buffer.concat([wavHeader({ sampleRate: 8_000, channels: 1 }, 0), Buffer.from([1, 0, 2, 0])]);
    wav.writeUInt32LE(size, 40);
    expect([...(await read(wav)).samples]).toEqual([1, 2]);
  });

  test('ends before what follows the samples', async () => {
    const note = Buffer.from('LIST\x04\0\0\0abcd', 'latin1');
    const wav = Buffer.concat([
      wavHeader({ sampleRate: 8_000, channels: 1 }, 4),
      Buffer.from([1, 0, 2, 0]),
      note,
    ]);
    expect([...(await read(wav)).samples]).toEqual([1, 2]);
  });
});

describe('another format', () => {
  test.each([
    ['mp3', []],
    ['wav', ['-c:a', 'pcm_s24le']],
  ])('such as %s is decoded', async (ending, options) => {
    const folder = makeFolder();
    const { samples, sampleRate } = await read(tone(ending, ...options), folder);
    expect(samples.length / sampleRate).toBeCloseTo(0.5, 0);
    expect(peak(samples)).toBeGreaterThan(3_000);
    expect(readdirSync(folder)).toEqual([]);
  });

  test.each([
    ['nothing', ''],
    ['a playlist', '#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n'],
    ['a WAV with a tiny header chunk', 'RIFF\0\0\0\0WAVEfmt \x02\0\0\0aabbccddeeffgghh'],
  ])('that is %s is refused', async (_, text) => {
    const folder = makeFolder();
    const answer = readSpeech(Buffer.from(text, 'latin1'), { backend: 'openai x', text: 'Hi' }, programs, {
      folder,
      signal,
    });
    await expect(answer).rejects.toMatchObject({
      code: 'ENGINE_ERROR',
      message: expect.stringMatching(/^openai x returned (nothing|what is not a sound)/),
    });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('the speech of a text', () => {
  const at = (seconds: number, level: number) => ({
    samples: new Int16Array(seconds * 8_000).fill(level),
    sampleRate: 8_000,
  });

  test('loses the silence around it', () => {
    const samples = new Int16Array(8_000).fill(900, 4_000, 5_000);
    const trimmed = checkSpeech({ samples, sampleRate: 8_000 }, { backend: 'a', text: 'Hi' });
    expect(trimmed.samples.length).toBeLessThan(1_200);
  });

  test('must not be silent', () => {
    expect(() => checkSpeech(at(1, 10), { backend: 'openai kokoro', text: 'Hi' })).toThrow(
      'openai kokoro returned silence for "Hi"',
    );
  });

  test('must not be far longer than anyone would speak', () => {
    const text = 'a'.repeat(50);
    expect(checkSpeech(at(100, 900), { backend: 'a', text }).samples).toHaveLength(800_000);
    expect(() => checkSpeech(at(111, 900), { backend: 'a', text })).toThrow(
      `a returned 111 s of sound for "${'a'.repeat(40)}…"; check its model and voice`,
    );
    expect(checkSpeech(at(111, 900), { backend: 'a', text: '字'.repeat(50) }).samples).toHaveLength(888_000);
  });
});
