/**
 * Twelve short videos in two languages through the built command and the real engines. Checks that all results are
 * correct and the cores are busy.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Figure, upTo } from './figure.ts';
import { CLEAN_ENV } from './measure.ts';
import { runTimed } from './timed-run.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const SAMPLE = here('../test/fixtures/sample.mp4');
/** Enough to keep the cores busy for most of the run. */
const FULL = { videos: 12, languages: ['es', 'ca'] };
const SHORT: Size = { videos: 1, languages: ['es', 'ca'] };
type Size = typeof FULL;
const FRAMES_PER_SECOND = 25;
const FRAME_SECONDS = 1 / FRAMES_PER_SECOND;
/** The music is 20 dB below the speech, which has about −20 dB, so a louder result contains a voice. */
const VOICE_DB = -32;

interface Clip {
  readonly start: number;
  readonly end: number;
}

interface Video {
  readonly name: string;
  readonly seconds: number;
}

interface BatchReport {
  readonly items: readonly {
    readonly state: string;
    readonly attempts: number;
    readonly credits: { charged: number };
  }[];
}

export async function measureManyVideos(isShort: boolean): Promise<readonly Figure[]> {
  const { videos: count, languages } = isShort ? SHORT : FULL;
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  const [inputs, out] = [join(folder, 'lessons'), join(folder, 'out')];
  mkdirSync(inputs);
  try {
    const videos = makeVideos(inputs, count);
    const env = { VLOC_PROFILE: 'local', VLOC_STATE_DIR: join(folder, 'state') };
    const vloc = [process.execPath, here('../bin/vloc.js')];
    // Throws unless the command exits with 0.
    const run = runTimed([...vloc, 'localize', inputs, '--to', languages.join(','), '--out', out], env);
    const report = execFileSync(
      process.execPath,
      [here('../bin/vloc.js'), 'batch', 'report', out, '-o', 'json'],
      {
        env: { ...CLEAN_ENV, ...env },
        encoding: 'utf8',
      },
    );
    const { items }: BatchReport = JSON.parse(report);
    const results = videos.flatMap((video) => languages.map((language) => ({ video, language })));
    const wrong = results.filter(
      ({ video, language }) => !isRight(join(out, `${video.name}.${language}.mp4`), video),
    );
    const figure = (
      name: string,
      value: number,
      limit: NonNullable<Figure['limit']>,
      plausible: Figure['plausible'],
      unit: Figure['unit'] = '',
    ): Figure => ({
      name: `${count} videos in ${languages.length} languages: ${name}`,
      value,
      unit,
      limit,
      plausible,
    });
    // Each item is done with one job that costs a credit, and a job may fail and be repeated.
    const perItem = [results.length, 10 * results.length] as const;
    return [
      figure('wrong results', wrong.length, { atMost: 0 }, upTo(results.length)),
      figure(
        'items that are done',
        items.filter(({ state }) => state === 'done').length,
        { atLeast: results.length },
        [1, results.length],
      ),
      figure(
        'paid calls',
        items.reduce((sum, { attempts }) => sum + attempts, 0),
        { atMost: results.length },
        perItem,
      ),
      figure(
        'credits charged',
        items.reduce((sum, { credits }) => sum + credits.charged, 0),
        { atMost: results.length },
        perItem,
      ),
      figure(
        'cores busy',
        (100 * run.cpuSeconds) / (run.seconds * availableParallelism()),
        { atLeast: 80 },
        // The kernel counts in 10 ms.
        [1, 105],
        '%',
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Each video has one of the sample's sentences after music of a different length, so no two videos are equal. */
function makeVideos(folder: string, count: number): readonly Video[] {
  const { clips }: { clips: readonly Clip[] } = JSON.parse(
    readFileSync(here('../test/fixtures/sample.json'), 'utf8'),
  );
  return Array.from({ length: count }, (_, number) => {
    const clip = clips[number % clips.length] ?? { start: 0, end: 1 };
    // There is one second of music between the clips. Up to nine tenths of it belong to this clip.
    const lead = Math.floor(number / clips.length) / 14;
    const frames = Math.round((clip.end - clip.start + lead) * FRAMES_PER_SECOND);
    const seconds = frames / FRAMES_PER_SECOND;
    const name = `lesson-${String(number + 1).padStart(2, '0')}`;
    execFileSync('ffmpeg', [
      ...['-nostdin', '-v', 'error', '-ss', String(clip.start - lead), '-t', String(seconds), '-i', SAMPLE],
      ...['-f', 'lavfi', '-i', `testsrc=s=320x180:r=${FRAMES_PER_SECOND}:d=${seconds}`],
      ...['-map', '1:v', '-map', '0:a', '-t', String(seconds), '-c:v', 'libx264', '-preset', 'ultrafast'],
      ...['-pix_fmt', 'yuv420p', '-c:a', 'aac', join(folder, `${name}.mp4`)],
    ]);
    return { name, seconds };
  });
}

/** Checks that picture and sound have their original length and that somebody speaks. */
function isRight(path: string, { seconds }: Video): boolean {
  const probed = execFileSync(
    'ffprobe',
    [
      '-v',
      'error',
      '-count_frames',
      '-show_entries',
      'stream=codec_type,nb_read_frames',
      '-of',
      'json',
      path,
    ],
    { encoding: 'utf8' },
  );
  const { streams }: { streams: readonly { codec_type: string; nb_read_frames: string }[] } =
    JSON.parse(probed);
  const frames = Number(streams.find(({ codec_type: type }) => type === 'video')?.nb_read_frames);
  const hasSound = streams.some(({ codec_type: type }) => type === 'audio');
  return (
    hasSound && Math.abs(frames * FRAME_SECONDS - seconds) < FRAME_SECONDS && meanDecibels(path) > VOICE_DB
  );
}

function meanDecibels(path: string): number {
  const script = `ffmpeg -nostdin -hide_banner -i "$1" -map 0:a -af volumedetect -f null - 2>&1`;
  const told = execFileSync('sh', ['-c', script, 'sh', path], { encoding: 'utf8' });
  return Number(/mean_volume: (-?[\d.]+) dB/.exec(told)?.[1]);
}
