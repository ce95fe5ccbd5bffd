/** Creates a long talk from the recorded speech of the fixtures, with known texts and times. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createWav, openWav } from '../src/media/audio/wav.ts';
import { SAMPLE_RATE } from '../src/media/encode/encoders.ts';

/** A tone under the speech: a jump in the tone shows a wrong cut. */
export const TONE_HZ = 217;
/**
 * Room noise, 50 dB below full scale. Without it, encoding digital silence and a pure tone again yields either the same
 * values or a difference of 4 steps, depending on the position of the encoder's frames. That says nothing about seams.
 */
const ROOM = `anoisesrc=c=pink:r=${SAMPLE_RATE}:a=0.01:seed=1`;

interface Said {
  /** Seconds from the beginning of the talk. */
  readonly start: number;
  readonly end: number;
  readonly words: string;
}

export interface Talk {
  readonly path: string;
  /** In order of time. */
  readonly said: readonly Said[];
}

/** One comes with vloc, for `vloc engines test`. */
const CLIPS = { '0870': 'src/engines/trial', '0880': 'test/fixtures' } as const;
/**
 * Seconds between the clips, in turn. They differ so that no two cuts are alike. The longest (a breath between
 * paragraphs) occurs about every 40 s.
 */
const PAUSES = [0.45, 0.7, 0.35, 0.9, 0.55, 0.3, 1.4] as const;
/** Silence at the start, in seconds: a recording does not begin with its first word. */
const LEAD = 0.5;

const file = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** @param options of the video encoder, such as the key frame interval */
export async function makeTalk(path: string, seconds: number, options: readonly string[]): Promise<Talk> {
  const wav = `${path}.speech.wav`;
  const said = await writeSpeech(wav, seconds);
  const graph =
    '[1:a]volume=0.1[tone];[0:a][tone][2:a]amix=inputs=3:duration=first:normalize=0,' +
    `apad=whole_dur=${seconds},atrim=end=${seconds}[sound]`;
  ffmpeg(
    ...['-i', wav, '-f', 'lavfi', '-i', `sine=f=${TONE_HZ}:r=${SAMPLE_RATE}:d=${seconds}`],
    ...['-f', 'lavfi', '-i', `${ROOM}:d=${seconds}`],
    ...['-f', 'lavfi', '-i', `testsrc=s=160x90:r=25:d=${seconds}`],
    ...['-filter_complex', graph, '-map', '3:v', '-map', '[sound]', '-t', String(seconds)],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', ...options],
    ...['-c:a', 'aac', '-b:a', '192k', path],
  );
  return { path, said };
}

/** Writes the clips in turn, with pauses between them, until no whole clip fits. */
async function writeSpeech(path: string, seconds: number): Promise<Said[]> {
  const clips = await Promise.all(Object.entries(CLIPS).map((clip) => readClip(clip, path)));
  const out = await createWav(path, { sampleRate: SAMPLE_RATE, channels: 1 });
  const said: Said[] = [];
  await out.write(new Int16Array(LEAD * SAMPLE_RATE));
  for (let turn = 0; ; turn += 1) {
    const { samples, words } = clips[turn % clips.length] ?? { samples: new Int16Array(0), words: '' };
    const start = out.frames / SAMPLE_RATE;
    const end = start + samples.length / SAMPLE_RATE;
    if (end > seconds) break;
    said.push({ start, end, words });
    await out.write(samples);
    await out.write(new Int16Array(Math.round((PAUSES[turn % PAUSES.length] ?? 0) * SAMPLE_RATE)));
  }
  await out.close();
  return said;
}

async function readClip(
  [number, folder]: readonly [string, string],
  beside: string,
): Promise<{ samples: Int16Array; words: string }> {
  const decoded = `${beside}.${number}.wav`;
  ffmpeg('-i', file(`${folder}/speech-${number}.flac`), ...pcm(SAMPLE_RATE), decoded);
  const wav = await openWav(decoded);
  const samples = (await wav.read(0, wav.frames)).slice();
  await wav.close();
  const sheet: { clips: readonly { clip: string; words: string }[] } = JSON.parse(
    readFileSync(file('test/fixtures/sample.json'), 'utf8'),
  );
  const words = sheet.clips.find(({ clip }) => clip.endsWith(number))?.words ?? '';
  return { samples, words };
}

/** Extracts the sound of a video as one channel into a file next to it. Returns its path. */
export function decodeTalk(path: string, sampleRate = SAMPLE_RATE): string {
  const wav = `${path}.${sampleRate}.wav`;
  ffmpeg(
    '-i',
    path,
    '-map',
    '0:a:0',
    '-af',
    `aresample=${sampleRate}:async=1:first_pts=0`,
    ...pcm(sampleRate),
    wav,
  );
  return wav;
}

function pcm(sampleRate: number): string[] {
  return ['-ac', '1', '-ar', String(sampleRate), '-c:a', 'pcm_s16le'];
}

function ffmpeg(...args: string[]): void {
  execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args]);
}

/** The positions to check in each pause, as shares of its length. */
const IN_PAUSE = [0.3, 0.5, 0.7] as const;

/** Returns positions in the pauses, in samples: where nobody speaks, like at a seam. */
export function pausesOf({ said }: Talk): number[] {
  return said.slice(1).flatMap(({ start }, at) => {
    const from = said[at]?.end ?? start;
    return IN_PAUSE.map((share) => Math.round((from + share * (start - from)) * SAMPLE_RATE));
  });
}
