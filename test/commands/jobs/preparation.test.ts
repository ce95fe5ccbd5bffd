import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wavSeconds } from '../../../src/media/audio/wav.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { parseSrt } from '../../../src/protocol/srt.ts';
import { ffprobe } from '../../engines/workspace.ts';
import { frameDigests, makeVideo } from '../../prepare/workspace.ts';
import { linesOf } from '../support/run-vloc.ts';
import { type MediaDesk, openMediaDesk } from './desk.ts';
import { filesBelow, lasts } from './results.ts';

/** Key frames everywhere, so that the picture need not be encoded. */
const H264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '5'];
const MP4 = ['-vf', 'scale=64:48', ...H264, '-c:a', 'aac'];

/** Six seconds: two parts. */
const longVideo = (desk: MediaDesk) => makeVideo(desk.folder, 'talk.mp4', 6, ...MP4);

/** Each runs ffmpeg a dozen times, on machines that do other work too. */
const PATIENCE = { timeout: 300_000 };

const documentsOf = (stdout: string) => JSON.parse(stdout).data;

it('two copies of a video are prepared without disturbing each other', PATIENCE, async () => {
  const desk = await openMediaDesk();
  const path = makeVideo(desk.folder, 'one.mkv', 1, ...MP4);
  copyFileSync(path, join(desk.folder, 'two.mkv'));
  const { code, stderr } = await desk.vloc(['recognize', '.', '--from', 'en', '--convert']);
  expect(code, stderr).toBe(0);
  for (const name of ['one', 'two']) expect(existsSync(join(desk.folder, `${name}.en.srt`))).toBe(true);
});

describe('a video that is too long', PATIENCE, () => {
  it('is sent in parts as one item with --split, and returned as one of its own length', async () => {
    const desk = await openMediaDesk();
    const path = longVideo(desk);
    const words = [
      'localize',
      'talk.mp4',
      '--from',
      'en',
      '--to',
      'es,fr',
      '--split',
      '--keep-audio',
      '--out',
      'out',
      '-o',
      'json',
    ];
    const { code, stdout, stderr } = await desk.vloc(words);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('talk.mp4: cut at silences into about 2 parts');
    const documents = documentsOf(stdout);
    expect(documents).toHaveLength(2);
    expect(documents[0]).toMatchObject({ input: 'talk.mp4', status: 'succeeded', charged_credits: 2 });
    // Cut once, sent once, for both languages.
    expect([desk.count('createUpload'), desk.count('createAutoLocalization')]).toEqual([2, 4]);
    const result = join(desk.folder, 'out', 'talk.es.mp4');
    expect(frameDigests(result)).toEqual(frameDigests(path));
    expect(Math.abs(lasts(result) - 6)).toBeLessThan(0.04);
    expect(ffprobe(result, 'stream_disposition=default', 'a').split('\n')).toEqual(['1', '0']);
    // Nothing of the parts is left but the record.
    expect((await readdir(join(desk.folder, 'out'))).sort()).toEqual(['.vloc', 'talk.es.mp4', 'talk.fr.mp4']);
    expect(filesBelow(join(desk.folder, 'out', '.vloc', 'parts'))).toEqual([]);

    const again = await desk.vloc(words);
    expect(again.code, again.stderr).toBe(0);
    expect(documentsOf(again.stdout)[0].files[0]).toMatchObject({ path: result, skipped: true });
    expect(desk.count('createAutoLocalization')).toBe(4);
    const status = await desk.vloc(['batch', 'status', 'out', '--all', '-o', 'json']);
    expect(JSON.parse(status.stdout).items).toMatchObject([
      { label: 'talk.mp4 → es', state: 'done', credits: { charged: 2 } },
      { label: 'talk.mp4 → fr', state: 'done', credits: { charged: 2 } },
    ]);

    // The length of its stems is that of the whole, too.
    const separated = await desk.vloc(['separate', 'talk.mp4', '--split']);
    expect(separated.code, separated.stderr).toBe(0);
    for (const stem of ['vocals', 'background'])
      expect(await wavSeconds(join(desk.folder, `talk.${stem}.wav`))).toBeCloseTo(6, 1);
  });
});

describe('subtitles with too many lines', PATIENCE, () => {
  const SRT = Array.from({ length: 10 }, (_, at) => {
    const time = (seconds: number) => `00:00:${String(seconds).padStart(2, '0')},000`;
    return `${at + 1}\n${time(at * 2)} --> ${time(at * 2 + 1)}\nline ${at}\n`;
  }).join('\n');

  it('are refused with the parts and units, and translated in parts with --split', async () => {
    const desk = await openMediaDesk();
    await writeFile(join(desk.folder, 'book.srt'), SRT);
    const words = ['translate', 'book.srt', '--from', 'en', '--to', 'es'];
    const refused = await desk.vloc(words);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      'it has 10 lines, and the service accepts 4 per job; --split would cut it into 3 parts, about 10 lines',
    );
    const { code, stderr } = await desk.vloc([...words, '--split']);
    expect(code, stderr).toBe(0);
    const lines = parseSrt(readFileSync(join(desk.folder, 'book.es.srt'), 'utf8'));
    expect(lines.map(({ text }) => text)).toEqual(Array.from({ length: 10 }, (_, at) => `LINE ${at}`));
    expect(lines.map(({ start_ms }) => start_ms)).toEqual(Array.from({ length: 10 }, (_, at) => at * 2000));
    expect(desk.count('createSubtitleTranslation')).toBe(3);
  });

  it('are spoken in parts, each at its time', async () => {
    const desk = await openMediaDesk();
    await writeFile(join(desk.folder, 'book.srt'), SRT);
    const { code, stderr } = await desk.vloc(['dub', 'book.srt', '--to', 'es', '--split']);
    expect(code, stderr).toBe(0);
    expect(await wavSeconds(join(desk.folder, 'book.es.wav'))).toBeCloseTo(19, 1);
    expect(desk.count('createDubbing')).toBe(3);
  });
});

describe('a part that fails', PATIENCE, () => {
  const cue = (at: number) => `${at + 1}\n00:00:0${at},000 --> 00:00:0${at},500\nline ${at}\n`;
  const WORDS = ['translate', 'book.srt', '--from', 'en', '--to', 'es', '--split', '--out', 'out'];

  async function openWithBook(lines: number, options: Parameters<typeof openMediaDesk>[0] = {}) {
    const desk = await openMediaDesk(options);
    const srt = Array.from({ length: lines }, (_, at) => cue(at)).join('\n');
    await writeFile(join(desk.folder, 'book.srt'), srt);
    return desk;
  }

  it('is named, is one line of the status, and runs again alone', async () => {
    const desk = await openWithBook(8, { config: { attempts: 1 } });
    desk.engines.failNext(new JobFailure('SOURCE_UNREACHABLE', 'it did not answer'));
    const { code, stderr } = await desk.vloc(WORDS);
    expect(code, stderr).toBe(5);
    expect(stderr).toMatch(/part [12] of 2: it did not answer/);
    const status = await desk.vloc(['batch', 'status', 'out', '-o', 'json']);
    expect(JSON.parse(status.stdout).items).toMatchObject([{ label: 'book.srt → es', state: 'failed' }]);
    const retried = await desk.vloc(['batch', 'retry', 'out']);
    expect(retried.code, retried.stderr).toBe(0);
    expect(desk.count('createSubtitleTranslation')).toBe(3);
    expect(parseSrt(readFileSync(join(desk.folder, 'out', 'book.es.srt'), 'utf8'))).toHaveLength(8);
  });

  it('has its job reported with the others', async () => {
    const desk = await openWithBook(8);
    const { stdout } = await desk.vloc([...WORDS, '-o', 'ndjson']);
    const lines = linesOf(stdout);
    const parts = lines.filter(({ type }) => type === 'part');
    expect(parts.map(({ input, part, of }) => [input, part, of]).toSorted()).toEqual([
      ['book.srt', 1, 2],
      ['book.srt', 2, 2],
    ]);
    expect(lines.at(-1)).toMatchObject({ type: 'summary', jobs: 1, done: 1, charged_credits: 8 });
    const again = await desk.vloc([...WORDS, '--fresh', '--clobber', '-o', 'id']);
    expect(again.stdout.trim().split('\n')).toHaveLength(2);
  });

  it('is never started if all parts together exceed --max-credits', async () => {
    const desk = await openWithBook(9);
    await writeFile(join(desk.folder, 'short.srt'), cue(0));
    const short = ['translate', 'short.srt', '--from', 'en', '--to', 'es', '--out', 'out'];
    expect((await desk.vloc(short)).code).toBe(0);
    // The price is known from the short one, which counts as well.
    const both = ['translate', 'short.srt', 'book.srt', ...WORDS.slice(2)];
    const { code, stderr } = await desk.vloc([...both, '--max-credits', '9']);
    expect(code, stderr).toBe(6);
    expect(desk.count('createSubtitleTranslation')).toBe(1);
    expect((await desk.vloc([...both, '--max-credits', '10'])).code).toBe(0);
    expect(desk.count('createSubtitleTranslation')).toBe(4);
  });
});

describe('a long text that was edited', PATIENCE, () => {
  it('is not taken for done by a run after one that stopped before its first part', async () => {
    const desk = await openMediaDesk();
    const write = (word: string) =>
      writeFile(
        join(desk.folder, 'book.srt'),
        Array.from(
          { length: 8 },
          (_, at) => `${at + 1}\n00:00:0${at},000 --> 00:00:0${at},500\n${word} ${at}\n`,
        ).join('\n'),
      );
    const words = ['translate', 'book.srt', '--from', 'en', '--to', 'es', '--split', '--out', 'out'];
    await write('before');
    expect((await desk.vloc(words)).code).toBe(0);
    await write('after');
    expect((await desk.vloc([...words, '--clobber', '--max-credits', '1'])).code).toBe(6);
    const { code, stderr } = await desk.vloc([...words, '--clobber']);
    expect(code, stderr).toBe(0);
    expect(readFileSync(join(desk.folder, 'out', 'book.es.srt'), 'utf8')).toContain('AFTER 7');
  });
});

describe('a video in a container that the service does not accept', PATIENCE, () => {
  it('is converted, keeps its name, and the conversion is reported', async () => {
    const desk = await openMediaDesk();
    makeVideo(desk.folder, 'talk.mkv', 1, ...MP4);
    const words = ['localize', 'talk.mkv', '--from', 'en', '--to', 'es', '--convert', '--out', 'out'];
    const dry = await desk.vloc([...words, '--dry-run', '-o', 'json']);
    expect(JSON.parse(dry.stdout).items[0]).toMatchObject({
      input: 'talk.mkv',
      conversion: 'remuxed',
      parts: 1,
    });
    expect(desk.count('createUpload')).toBe(0);
    const { code, stderr } = await desk.vloc(words);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(
      'talk.mkv: remuxed to MP4 without re-encoding, since the service does not accept MKV',
    );
    expect(existsSync(join(desk.folder, 'out', 'talk.es.mp4'))).toBe(true);
    expect(filesBelow(join(desk.folder, 'out', '.vloc', 'converted'))).toEqual([]);
    expect((await desk.vloc(words)).code).toBe(0);
    expect(desk.count('createAutoLocalization')).toBe(1);
  });
});
