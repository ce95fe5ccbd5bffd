/**
 * A quarter of an hour of speech for a transcription server that accepts uploads of up to 25 MB. The "speech" is noise with
 * pauses at known times: it compresses as badly as sound can. The server decodes what it gets and finds each stretch of
 * noise, so that a lost, doubled or moved one is visible.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Segment } from '../src/media/audio/segments.ts';
import { type Figure, NODE_MEMORY_MIB, upTo } from './figure.ts';
import { type ProcessRun, runProcess } from './measure.ts';

const TRANSCRIBE = fileURLToPath(new URL('transcribe.ts', import.meta.url));
/** The longest video of the service. */
const LONG = 15 * 60;
const SHORT = 60;
/** Instead of both, for a short run of the bench: two stretches and three. */
const SMALL = [20, 30] as const;
/** Each stretch of noise and the pause after it, in seconds. */
const NOISE = 9.4;
const PAUSE = 0.6;
const RATE = 16_000;
/** Decimal, as servers count it. */
const MOST_BYTES = 25_000_000;
/** A word further from its time, in seconds, would move a cue by more than a picture of film. */
const NEAR = 0.04;

export async function measureLongSpeech(folder: string, isShort: boolean): Promise<Figure[]> {
  const [shortSeconds, longSeconds] = isShort ? SMALL : [SHORT, LONG];
  const server = await openLimitedServer();
  try {
    const short = await transcribe(shortSeconds, folder, server.url);
    server.uploads.length = 0;
    const long = await transcribe(longSeconds, folder, server.url);
    const uploads = server.uploads.length;
    const most = Math.max(...server.uploads);
    return [
      {
        name: `noise of ${longSeconds} s for a server that accepts 25 MB: uploads`,
        value: uploads,
        unit: '',
        plausible: [1, 1000],
      },
      {
        name: 'largest of them, in MB',
        value: most / 1e6,
        unit: '',
        limit: { atMost: MOST_BYTES / 1e6 },
        plausible: [0.01, 1000],
      },
      {
        name: 'uploads refused as too large',
        value: server.refused(),
        unit: '',
        limit: { atMost: 0 },
        plausible: upTo(uploads),
      },
      {
        name: 'words lost, doubled or moved',
        value: long.wrong,
        unit: '',
        limit: { atMost: 0 },
        plausible: upTo(10_000),
      },
      {
        name: `memory of vloc for ${shortSeconds} s`,
        value: short.run.peakMiB,
        unit: 'MiB',
        plausible: NODE_MEMORY_MIB,
      },
      {
        name: `memory of vloc for ${longSeconds} s beyond that`,
        value: long.run.peakMiB - short.run.peakMiB,
        unit: 'MiB',
        // The words, and buffers of the upload. The WAV has 27 MiB, and its FLAC nearly as much.
        limit: { atMost: 20 },
        plausible: [-500, 16_384],
      },
    ];
  } finally {
    await server.close();
  }
}

async function transcribe(
  seconds: number,
  folder: string,
  url: string,
): Promise<{ readonly run: ProcessRun; readonly wrong: number }> {
  const segments = segmentsOf(seconds);
  const voice = join(folder, `voice-${seconds}.wav`);
  makeNoise(voice, seconds);
  const task = join(folder, `task-${seconds}.json`);
  writeFileSync(task, JSON.stringify({ url, voice, segments, folder }));
  const run = await runProcess([process.execPath, TRANSCRIBE, task]);
  if (run.code !== 0) throw new Error(`${TRANSCRIBE} ended with ${run.code}:\n${run.output}`);
  return { run, wrong: countWrong(JSON.parse(run.output), segments) };
}

function segmentsOf(seconds: number): Segment[] {
  const count = Math.floor(seconds / (NOISE + PAUSE));
  return Array.from({ length: count }, (_, at) => {
    const start = at * (NOISE + PAUSE);
    return { start, end: start + NOISE };
  });
}

function makeNoise(path: string, seconds: number): void {
  const noise = `anoisesrc=r=${RATE}:a=0.9:seed=1:d=${seconds}`;
  const pauses = `volume=volume='lt(mod(t,${NOISE + PAUSE}),${NOISE})':eval=frame`;
  // Frames of a hundredth of a second: the volume changes between frames only.
  const filter = `asetnsamples=${RATE / 100},${pauses}`;
  execFileSync('ffmpeg', [
    '-nostdin',
    '-v',
    'error',
    '-f',
    'lavfi',
    '-i',
    noise,
    '-af',
    filter,
    '-ac',
    '1',
    path,
  ]);
}

/** Stretches without exactly one word at their time, and words without a stretch. */
function countWrong(words: readonly Segment[], segments: readonly Segment[]): number {
  const near = (word: Segment, segment: Segment) =>
    Math.abs(word.start - segment.start) < NEAR && Math.abs(word.end - segment.end) < NEAR;
  const found = segments.filter((segment) => words.filter((word) => near(word, segment)).length === 1);
  const known = words.filter((word) => segments.some((segment) => near(word, segment)));
  return segments.length - found.length + (words.length - known.length);
}

interface LimitedServer {
  readonly url: string;
  /** Sizes of the requests. */
  readonly uploads: number[];
  refused(): number;
  close(): Promise<void>;
}

async function openLimitedServer(): Promise<LimitedServer> {
  const uploads: number[] = [];
  let refused = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      uploads.push(body.length);
      const isTooLarge = body.length > MOST_BYTES;
      if (isTooLarge) refused += 1;
      const answer = isTooLarge ? { error: { message: 'file too large' } } : hear(body);
      response.writeHead(isTooLarge ? 413 : 200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a path
  return {
    url: `http://127.0.0.1:${port}/v1`,
    uploads,
    refused: () => refused,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

/** Returns a word for each stretch of noise in the file of a form. */
function hear(form: Buffer): object {
  const flac = form.subarray(form.indexOf('fLaC'));
  const args = ['-nostdin', '-v', 'error', '-f', 'flac', '-i', '-', '-f', 's16le', '-'];
  const sound = execFileSync('ffmpeg', args, {
    input: flac,
    maxBuffer: 2 ** 28,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const samples = new Int16Array(new Uint8Array(sound).buffer);
  const words: { word: string; start: number; end: number }[] = [];
  const step = RATE / 100;
  for (let from = 0; from < samples.length; from += step) {
    if (!samples.subarray(from, from + step).some((sample) => Math.abs(sample) > 300)) continue;
    const end = Math.min(samples.length, from + step) / RATE;
    const last = words.at(-1);
    if (last !== undefined && Math.abs(last.end - from / RATE) < 1e-6) last.end = end;
    else words.push({ word: 'noise', start: from / RATE, end });
  }
  return { text: 'noise', words, segments: [] };
}
