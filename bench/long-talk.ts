/**
 * Sends a talk of 40 minutes through all steps of `--split`: cut, sent to the embedded service, recognized and
 * localized in parts by the real engines, and joined. The result is compared with the recognition of the whole talk in
 * one piece.
 *
 * Only this bench covers all steps; `split` covers only cutting and joining, compared with the original sound. It does
 * not measure a word error rate: the engine makes the same errors with and without cuts.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { main } from '../src/cli/main.ts';
import type { Io } from '../src/context/context.ts';
import { createPrograms } from '../src/engines/programs.ts';
import { SAMPLE_RATE } from '../src/prepare/media/codecs.ts';
import { readFacts } from '../src/prepare/media/facts.ts';
import { secondsOf } from '../src/prepare/media/fraction.ts';
import { readTimeline } from '../src/prepare/media/timeline.ts';
import { countParts, SERVICE_SPLIT } from '../src/prepare/split/limits.ts';
import { findCuts } from '../src/prepare/split/split-long-video.ts';
import { parseSrt } from '../src/protocol/srt.ts';
import type { SubtitleLine } from '../src/protocol/subtitle-line.ts';
import type { Figure } from './figure.ts';
import { hearSeams } from './seams.ts';
import { decodeTalk, makeTalk, pausesOf, type Talk } from './talk.ts';
import { recognizeWhole } from './whole-recognition.ts';
import { countCommon, type TimedWord, wordsBetween, wordsOf } from './words.ts';

/**
 * Words at most this near to a seam, in seconds, are counted separately: otherwise a loss would not be visible in 40
 * minutes.
 */
const NEAR = 30;
/** A cue that crosses a seam by less than this, in milliseconds, was only rounded: two frames of film. */
const ROUNDED_MS = 84;

const programs = createPrograms(process.env.PATH ?? '');

/** @param limits default: those of the service; use lower ones for a shorter talk */
export async function measureLongTalk(
  seconds = 40 * 60,
  limits?: NonNullable<Io['limits']>,
): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  try {
    const talk = await makeTalk(join(folder, 'talk.mp4'), seconds, ['-g', '50']);
    const cuts = await findSeams(talk, folder, limits?.parts ?? SERVICE_SPLIT);
    const way = { folder, limits, talk };
    const joined = parseSrt(readFileSync(await run('recognize', [], way), 'utf8'));
    tell(`${joined.length} cues recognized in ${cuts.seams.length + 1} parts`);
    const whole = await recognizeWhole(talk.path, join(folder, 'whole'));
    tell(`${whole.length} cues recognized in one piece`);
    const localized = await run('localize', ['--to', 'es'], way);
    tell('localized');
    return [
      ...cueFigures(joined, whole, { talk, seams: cuts.seams }),
      ...(await videoFigures(localized, talk, cuts)),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** It takes an hour or more, so progress is shown. */
function tell(what: string): void {
  process.stderr.write(`${new Date().toISOString()} ${what}\n`);
}

interface Way {
  readonly folder: string;
  readonly limits: Io['limits'];
  readonly talk: Talk;
}

/** Runs a command in the same way as the program, and returns the only file that it creates. */
async function run(
  command: string,
  words: readonly string[],
  { folder, limits, talk }: Way,
): Promise<string> {
  const out = join(folder, command);
  const argv = [command, talk.path, '--split', '--from', 'en', ...words, '--out', out];
  const code = await main(argv, {
    ...{ stdin: process.stdin, stdout: process.stderr, stderr: process.stderr },
    env: { PATH: process.env.PATH, VLOC_STATE_DIR: join(folder, 'state'), VLOC_CONFIG_DIR: folder },
    ...{ cwd: folder, platform: process.platform, now: Date.now },
    ...(limits === undefined ? {} : { limits }),
    onSignal: () => () => undefined,
    abandon: () => undefined,
  });
  const made = readdirSync(out).filter((name) => /\.(srt|mp4)$/.test(name));
  if (code !== 0 || made.length !== 1)
    throw new Error(`${command} ended with ${code} and has made ${made.join(', ')}`);
  return join(out, made[0] ?? '');
}

interface Cuts {
  /** Seconds. */
  readonly seams: readonly number[];
  readonly frames: number;
  readonly frameMs: number;
  readonly durationSeconds: number;
}

/** Returns where the command will cut. The same cuts, because nothing in it is random. */
async function findSeams({ path }: Talk, folder: string, limits: typeof SERVICE_SPLIT): Promise<Cuts> {
  const work = { folder: join(folder, 'cuts'), signal: new AbortController().signal, report: () => {} };
  mkdirSync(work.folder);
  const facts = await readFacts(programs, path, work);
  const timeline = await readTimeline(programs, path, facts, work);
  const [track] = facts.tracks;
  if (track === undefined) throw new Error('the talk has no sound');
  const { frames, frameRate, durationSeconds } = timeline;
  const parts = Math.max(2, countParts({ durationSeconds, bytes: facts.bytes }, limits));
  const cuts = await findCuts(programs, { path, facts, timeline, track }, work, { limits, parts });
  const seams = cuts.map(({ seconds }) => seconds);
  return { seams, frames, frameMs: 1000 * secondsOf(1, frameRate), durationSeconds };
}

function cueFigures(
  joined: readonly SubtitleLine[],
  whole: readonly SubtitleLine[],
  { talk, seams }: { talk: Talk; seams: readonly number[] },
): Figure[] {
  const spoken = talk.said.flatMap((said) => wordsBetween(said.words, said));
  const [left, right] = [wordsOf(joined), wordsOf(whole)];
  const near = (words: readonly TimedWord[]) =>
    words.filter(({ at }) => seams.some((seam) => Math.abs(at - seam) < NEAR));
  const understood = (words: readonly TimedWord[]) => countCommon(words, spoken);
  const disorder = joined.filter(({ start_ms }, at) => start_ms < (joined[at - 1]?.end_ms ?? 0));
  const cutInTwo = seams.filter((seam) => whole.some((cue) => liesInside(seam * 1000, cue)));
  const percent = (part: number, of: number) => (100 * part) / of;
  return [
    { name: 'parts of the talk', value: seams.length + 1, unit: '' },
    {
      name: 'cues that begin before the one in front ends',
      value: disorder.length,
      unit: '',
      limit: { atMost: 0 },
    },
    {
      name: 'cues of the whole talk that contain a cut',
      value: cutInTwo.length,
      unit: '',
      limit: { atMost: 0 },
    },
    {
      name: 'words of the whole recognition that the joined one has at their time',
      value: percent(countCommon(left, right), right.length),
      unit: '%',
      limit: { atLeast: 95 },
    },
    {
      name: 'the same within 30 s of a seam',
      value: percent(countCommon(near(left), near(right)), near(right).length),
      unit: '%',
      limit: { atLeast: 95 },
    },
    {
      name: 'spoken words understood, joined ÷ whole',
      value: understood(left) / understood(right),
      unit: '×',
      limit: { atLeast: 0.98 },
    },
    {
      name: 'the same within 30 s of a seam',
      value: understood(near(left)) / understood(near(right)),
      unit: '×',
      limit: { atLeast: 0.95 },
    },
  ];
}

function liesInside(atMs: number, { start_ms, end_ms }: SubtitleLine): boolean {
  return atMs > start_ms + ROUNDED_MS && atMs < end_ms - ROUNDED_MS;
}

async function videoFigures(path: string, talk: Talk, cuts: Cuts): Promise<Figure[]> {
  const work = { folder: tmpdir(), signal: new AbortController().signal, report: () => {} };
  const after = await readTimeline(programs, path, await readFacts(programs, path, work), work);
  const longer = 1000 * Math.abs(after.durationSeconds - cuts.durationSeconds);
  const places = {
    seams: cuts.seams.map((seam) => Math.round(seam * SAMPLE_RATE)),
    elsewhere: pausesOf(talk),
  };
  const heard = await hearSeams(decodeTalk(path), places);
  const atMostWorst = { unit: '×', limit: { atMost: 1 } } as const;
  const frames = Math.abs(after.frames - cuts.frames);
  return [
    { name: 'localized: frames lost or doubled', value: frames, unit: '', limit: { atMost: 0 } },
    { name: 'localized: difference of duration', value: longer, unit: 'ms', limit: { atMost: cuts.frameMs } },
    {
      name: 'localized: click at the seams ÷ the worst hundredth of pauses',
      value: heard.click,
      ...atMostWorst,
    },
    { name: 'localized: change of energy, the same', value: heard.energy, ...atMostWorst },
    { name: 'localized: jump of the phase, the same', value: heard.phase, ...atMostWorst },
  ];
}
