/** Splits and joins a talk of 17 minutes without any other step: the result must equal the input. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { joinVideos } from '../src/media/join/join-videos.ts';
import { readFacts } from '../src/media/probe/facts.ts';
import { readTimeline } from '../src/media/probe/timeline.ts';
import { createPrograms } from '../src/media/programs/programs.ts';
import { SERVICE_SPLIT, type SplitLimits } from '../src/media/split/limits.ts';
import { splitLongVideo } from '../src/media/split/split-long-video.ts';
import { type Figure, upTo } from './figure.ts';
import { compareSeams, hearSeams } from './seams.ts';
import { decodeTalk, makeTalk, pausesOf } from './talk.ts';

const programs = createPrograms(process.env.PATH ?? '');

/** Seconds: two minutes over the limit, so that there are two parts. */
const LONG = 17 * 60;
const SHORT = 40;
/** Two parts. */
const SHORT_LIMITS: SplitLimits = { ...SERVICE_SPLIT, equalSeconds: 28, mostSeconds: 30 };

export async function measureSplit(isShort: boolean): Promise<readonly Figure[]> {
  const [seconds, limits] = isShort ? [SHORT, SHORT_LIMITS] : [LONG, SERVICE_SPLIT];
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  const talk = { folder, seconds, limits };
  try {
    const figures = await measure('key frame every 2 s', ['-g', '50'], talk);
    if (isShort) return figures;
    return [
      ...figures,
      ...(await measure('key frames far apart', ['-g', '100000', '-sc_threshold', '0'], talk)),
    ];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Sound that was encoded again differs a little everywhere: a ratio of 0 compares a file with itself. */
const RATIO = [0.0001, 1e6] as const;

async function measure(
  name: string,
  keys: readonly string[],
  { folder, seconds, limits }: { folder: string; seconds: number; limits: SplitLimits },
): Promise<Figure[]> {
  const talk = await makeTalk(join(folder, 'talk.mp4'), seconds, keys);
  const work = { folder: join(folder, 'work'), signal: new AbortController().signal, report: () => {} };
  mkdirSync(work.folder);
  const facts = await readFacts(programs, talk.path, work);
  const timeline = await readTimeline(programs, talk.path, facts, work);
  const track = facts.tracks[0];
  if (track === undefined) throw new Error('the talk has no sound');
  const begin = performance.now();
  const split = await splitLongVideo(programs, { path: talk.path, facts, timeline, track }, work, limits);
  const between = performance.now();
  if (split.parts.length < 2) throw new Error('the talk was not split');
  const results = split.parts.map((part) => part.path);
  const joined = await joinVideos(programs, results, split, { name: 'joined.mp4', source: talk.path }, work);
  const end = performance.now();
  const after = await readTimeline(programs, joined.path, await readFacts(programs, joined.path, work), work);
  const places = {
    seams: split.parts.slice(1).map((part) => part.firstSample),
    elsewhere: pausesOf(talk),
  };
  const sound = decodeTalk(joined.path);
  const original = decodeTalk(talk.path);
  const compared = await compareSeams(original, sound, places);
  const heard = await hearSeams(original, sound, places);
  rmSync(work.folder, { recursive: true });
  const figure = (
    what: string,
    value: number,
    unit: Figure['unit'],
    plausible: Figure['plausible'],
    atMost?: number,
  ): Figure => ({
    name: `${name}, picture ${split.picture}: ${what}`,
    value,
    unit,
    plausible,
    ...(atMost === undefined ? {} : { limit: { atMost } }),
  });
  const longer = 1000 * Math.abs(after.durationSeconds - timeline.durationSeconds);
  const frameMs = (1000 * timeline.frameRate.den) / timeline.frameRate.num;
  return [
    figure('frames lost or doubled', Math.abs(after.frames - timeline.frames), '', upTo(timeline.frames), 0),
    figure('difference of duration', longer, 'ms', upTo(1000 * seconds), frameMs),
    figure('error of the sound at the seams ÷ the median of pauses', compared.error, '×', RATIO, 3),
    figure('samples by which the sound shifts at the seams', compared.lag, '', upTo(1e6), 0),
    figure('click at the seams ÷ the worst hundredth of pauses', heard.click, '×', RATIO, 1),
    figure('change of energy at the seams ÷ the worst hundredth of pauses', heard.energy, '×', RATIO, 1),
    figure('jump of the phase at the seams ÷ the worst hundredth of pauses', heard.phase, '×', RATIO, 1),
    figure('splitting, share of the duration', (between - begin) / 10 / seconds, '%', [0.001, 10_000]),
    figure('joining, share of the duration', (end - between) / 10 / seconds, '%', [0.001, 10_000]),
  ];
}
