/** A talk of 40 minutes is split and joined with nothing in between: what comes out must be what went in. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openWav, type WavReader } from '../src/engines/media/wav-file.ts';
import { createPrograms } from '../src/engines/programs.ts';
import { joinVideos } from '../src/prepare/join/join-videos.ts';
import { SAMPLE_RATE } from '../src/prepare/media/codecs.ts';
import { readFacts } from '../src/prepare/media/facts.ts';
import { readTimeline } from '../src/prepare/media/timeline.ts';
import { splitLongVideo } from '../src/prepare/split/split-long-video.ts';
import type { Figure } from './figure.ts';
import { median, quantile } from './measure.ts';

const SECONDS = 40 * 60;
/** 10 ms: short enough that a click of a few samples stands out of it. */
const WINDOW = 480;
/** Lags that are tried to see whether the sound moved, in samples: half an AAC frame. */
const MOST_LAG = 512;

const programs = createPrograms(process.env.PATH ?? '');

export async function measureSplit(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  try {
    return [
      ...(await measure(folder, 'key frame every 2 s', ['-g', '50'])),
      ...(await measure(folder, 'key frames far apart', ['-g', '100000', '-sc_threshold', '0'])),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function measure(folder: string, name: string, keys: readonly string[]): Promise<Figure[]> {
  const path = makeTalk(folder, keys);
  const work = { folder: join(folder, 'work'), signal: new AbortController().signal, report: () => {} };
  mkdirSync(work.folder);
  const facts = await readFacts(programs, path, work);
  const timeline = await readTimeline(programs, path, facts, work);
  const track = facts.tracks[0];
  if (track === undefined) throw new Error('the talk has no sound');
  const begin = performance.now();
  const split = await splitLongVideo(programs, { path, facts, timeline, track }, work);
  const between = performance.now();
  const results = split.parts.map((part) => part.path);
  const joined = await joinVideos(programs, results, split, { name: 'joined.mp4' }, work);
  const end = performance.now();
  const after = await readTimeline(programs, joined.path, await readFacts(programs, joined.path, work), work);
  const seams = await measureSeams(decode(path), decode(joined.path), split.parts.slice(1));
  rmSync(work.folder, { recursive: true });
  const figure = (what: string, value: number, unit: Figure['unit'], atMost?: number): Figure => ({
    name: `${name}, picture ${split.picture}: ${what}`,
    value,
    unit,
    ...(atMost === undefined ? {} : { limit: { atMost } }),
  });
  const frameMs = (1000 * timeline.frameRate.den) / timeline.frameRate.num;
  return [
    figure('frames lost or doubled', Math.abs(after.frames - timeline.frames), '', 0),
    figure(
      'difference of duration',
      1000 * Math.abs(after.durationSeconds - timeline.durationSeconds),
      'ms',
      frameMs,
    ),
    figure('error of the sound at the seams ÷ elsewhere', seams.error, '×', 3),
    figure('samples that the sound moved at the seams', seams.lag, '', 0),
    figure('largest step at the seams ÷ elsewhere', seams.step, '×', 1),
    figure('splitting, share of the duration', (between - begin) / 10 / SECONDS, '%'),
    figure('joining, share of the duration', (end - between) / 10 / SECONDS, '%'),
  ];
}

/** Speech in a loop with a quiet tone under it, so that no seam lies in digital silence. */
function makeTalk(folder: string, keys: readonly string[]): string {
  const path = join(folder, 'talk.mp4');
  const clip = (number: string) =>
    fileURLToPath(new URL(`../test/fixtures/speech-${number}.flac`, import.meta.url));
  const graph =
    '[0:a][1:a]concat=n=2:v=0:a=1,aresample=48000,apad=pad_dur=0.7,aloop=loop=-1:size=2000000[speech];' +
    '[2:a]volume=0.1[tone];[speech][tone]amix=inputs=2:duration=shortest:normalize=0[sound]';
  ffmpeg(
    ...['-i', clip('0870'), '-i', clip('0880')],
    ...['-f', 'lavfi', '-i', `sine=f=217:r=48000:d=${SECONDS}`],
    ...['-f', 'lavfi', '-i', `testsrc=s=320x180:r=25:d=${SECONDS}`],
    ...['-filter_complex', graph, '-map', '3:v', '-map', '[sound]', '-t', String(SECONDS)],
    ...[
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      '-pix_fmt',
      'yuv420p',
      ...keys,
      '-c:a',
      'aac',
      '-b:a',
      '192k',
    ],
    path,
  );
  return path;
}

function decode(path: string): string {
  const wav = `${path}.wav`;
  ffmpeg('-i', path, '-map', '0:a:0', '-ac', '1', '-ar', String(SAMPLE_RATE), '-c:a', 'pcm_s16le', wav);
  return wav;
}

function ffmpeg(...args: string[]): void {
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args]);
}

/** Compares original and joined sound around the seams and at as many places as a thousand elsewhere. */
async function measureSeams(
  before: string,
  after: string,
  parts: readonly { readonly firstSample: number }[],
) {
  const [original, joined] = [await openWav(before), await openWav(after)];
  const at = async (sample: number) => compare(original, joined, sample);
  const elsewhere: Awaited<ReturnType<typeof at>>[] = [];
  for (let place = 1; place < 1000; place += 1)
    elsewhere.push(await at(Math.round((place * original.frames) / 1000)));
  const seams: typeof elsewhere = [];
  for (const part of parts) seams.push(await at(part.firstSample));
  const lags: number[] = [];
  for (const part of parts) lags.push(Math.abs(await findLag(original, joined, part.firstSample)));
  await Promise.all([original.close(), joined.close()]);
  return {
    error: Math.max(...seams.map(({ error }) => error)) / median(elsewhere.map(({ error }) => error)),
    step:
      Math.max(...seams.map(({ step }) => step)) /
      quantile(
        elsewhere.map(({ step }) => step),
        0.99,
      ),
    lag: Math.max(...lags),
  };
}

/** Root of the mean square of the difference, and the largest step from sample to sample, within 10 ms around a place. */
async function compare(original: WavReader, joined: WavReader, place: number) {
  const left = (await original.read(place - WINDOW / 2, WINDOW)).slice();
  const right = await joined.read(place - WINDOW / 2, WINDOW);
  let sum = 0;
  let step = 0;
  for (let at = 0; at < WINDOW; at += 1) {
    sum += ((left[at] ?? 0) - (right[at] ?? 0)) ** 2;
    if (at > 0) step = Math.max(step, Math.abs((right[at] ?? 0) - (right[at - 1] ?? 0)));
  }
  return { error: Math.sqrt(sum / WINDOW), step };
}

/** How many samples later the joined sound is behind a seam: where both differ least over a second and a half. */
async function findLag(original: WavReader, joined: WavReader, seam: number): Promise<number> {
  const length = 1.5 * SAMPLE_RATE;
  const right = (await joined.read(seam, length)).slice();
  const left = (await original.read(seam - MOST_LAG, length + 2 * MOST_LAG)).slice();
  let best = { lag: Number.NaN, sum: Number.POSITIVE_INFINITY };
  for (let lag = -MOST_LAG; lag <= MOST_LAG; lag += 1) {
    let sum = 0;
    for (let at = 0; at < length && sum < best.sum; at += 7) {
      sum += ((right[at] ?? 0) - (left[at + MOST_LAG - lag] ?? 0)) ** 2;
    }
    if (sum < best.sum) best = { lag, sum };
  }
  return best.lag;
}
