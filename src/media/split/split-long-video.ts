/**
 * Splits a video that is too long or too large: analyses the sound around possible cuts, plans the cuts and cuts the
 * video. Saves the split as a record without paths, because paths change from run to run.
 */

import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import * as v from 'valibot';
import { SPEECH_FORMAT } from '../audio/decode-audio.ts';
import { mixUnplaced } from '../audio/mix-down.ts';
import { findPauses } from '../audio/segments.ts';
import { type Detector, detectSpeech, loadDetector, VAD_WINDOW } from '../audio/speech-detector.ts';
import { openWav } from '../audio/wav.ts';
import { PCM } from '../encode/encoders.ts';
import type { TrackFacts, VideoFacts } from '../probe/facts.ts';
import type { Timeline } from '../probe/timeline.ts';
import { convertibleInput, DECODER_LIMITS, fileAddress, QUIET } from '../programs/arguments.ts';
import { explainFailures, PreparationFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { Work } from '../work.ts';
import { countParts, type SplitLimits, type VideoSize } from './limits.ts';
import { type Cut, type CutWindow, cutWindows, type Level, planCuts, type TimeSpan } from './plan-cuts.ts';
import { splitVideo, type VideoSplit } from './split-video.ts';

export interface LongVideo {
  readonly path: string;
  readonly facts: VideoFacts;
  readonly timeline: Timeline;
  readonly track: TrackFacts;
  /** Existing subtitles, in seconds. No cut is inside a cue. */
  readonly cues?: readonly TimeSpan[];
}

/**
 * If a part is too large, the split is tried again with one more part. After this many attempts, something else is
 * wrong.
 */
const MOST_ATTEMPTS = 3;
/** Share of the total time that is used to analyse the sound. */
const LISTENING_SHARE = 0.1;

/**
 * Analyses the sound, plans the cuts and writes the parts into the work folder.
 * @throws PreparationFailure like `splitVideo`; PART_TOO_LARGE only if a part is still too large after adding parts
 */
export async function splitLongVideo(
  programs: Programs,
  video: LongVideo,
  work: Work,
  limits: SplitLimits,
): Promise<VideoSplit> {
  const least = countParts(sizeOf(video), limits);
  for (let parts = Math.max(2, least); ; parts += 1) {
    const hearing = { ...work, report: (part: number) => work.report(part * LISTENING_SHARE) };
    const cuts = await findCuts(programs, video, hearing, { limits, parts });
    const cutting = {
      ...work,
      report: (part: number) => work.report(LISTENING_SHARE + part * (1 - LISTENING_SHARE)),
    };
    try {
      return await splitVideo(programs, { ...video, cuts, limits }, cutting);
    } catch (error) {
      const tooLarge = error instanceof PreparationFailure && error.code === 'PART_TOO_LARGE';
      if (!tooLarge || parts >= least + MOST_ATTEMPTS) throw error;
    }
  }
}

/** Analyses the sound around the equal points and returns the cuts. Returns the same cuts for the same video. */
async function findCuts(
  programs: Programs,
  video: LongVideo,
  work: Work,
  { limits, parts }: { readonly limits: SplitLimits; readonly parts: number },
): Promise<Cut[]> {
  const { frameRate, cleanFrames } = video.timeline;
  const size = sizeOf(video);
  const heard = await measurePauses(programs, video, cutWindows(size, limits, parts), work);
  return planCuts({ ...size, frameRate, cleanFrames, cues: video.cues ?? [], ...heard }, limits, parts);
}

function sizeOf({ timeline, facts }: LongVideo): VideoSize {
  return { durationSeconds: timeline.durationSeconds, bytes: facts.bytes };
}

interface Heard {
  readonly silences: readonly TimeSpan[];
  readonly levels: readonly Level[];
}

/** Half of the window of the voice detection: a level belongs to the middle of its window. */
const LEVEL_SECONDS = VAD_WINDOW / SPEECH_FORMAT.sampleRate;

/** Finds the pauses in speech and the loudness in each window. Times are relative to the first frame. */
export async function measurePauses(
  programs: Programs,
  video: {
    readonly path: string;
    readonly track: TrackFacts;
    readonly timeline: Pick<Timeline, 'startSeconds'>;
  },
  windows: readonly CutWindow[],
  work: Work,
): Promise<Heard> {
  const silences: TimeSpan[] = [];
  const levels: Level[] = [];
  const detector = await loadDetector();
  for (const [position, window] of windows.entries()) {
    const heard = await listenTo(programs, video, { window, detector }, work);
    silences.push(...heard.silences);
    levels.push(...heard.levels);
    work.report((position + 1) / windows.length);
  }
  return { silences, levels };
}

async function listenTo(
  programs: Programs,
  { path, track, timeline }: Parameters<typeof measurePauses>[1],
  { window, detector }: { readonly window: CutWindow; readonly detector: Detector },
  work: Work,
): Promise<Heard> {
  const wav = join(work.folder, 'window.wav');
  const length = window.end - window.start;
  const from = String(window.start + timeline.startSeconds);
  const mixing = mixUnplaced(track);
  const args = [
    ...QUIET,
    ...convertibleInput(path, ['-ss', from, '-t', String(length)]),
    ...['-map', `0:${track.index}`, ...(mixing.length > 0 ? ['-af', mixing.join(',')] : [])],
    ...['-ar', String(SPEECH_FORMAT.sampleRate), '-ac', '1'],
    ...[...PCM, fileAddress(wav)],
  ];
  await explainFailures('the sound around a cut cannot be decoded', () =>
    programs.run('ffmpeg', args, { ...work, limits: DECODER_LIMITS }),
  );
  const sound = await openWav(wav);
  try {
    const { segments, energies } = await detectSpeech(sound, detector, () => work.signal.throwIfAborted());
    const silences = findPauses(segments, length).map(({ start, end }) => ({
      start: window.start + start,
      end: window.start + end,
    }));
    const levels = Array.from(energies, (energy, index) => ({
      at: window.start + (index + 0.5) * LEVEL_SECONDS,
      energy,
    }));
    return { silences, levels };
  } finally {
    await sound.close();
    await rm(wav);
  }
}

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const SplitSchema = v.object({
  stem: v.string(),
  frameRate: v.object({ num: count, den: count }),
  picture: v.picklist(['copied', 'encoded']),
  parts: v.pipe(
    v.array(
      v.object({
        name: v.string(),
        firstFrame: count,
        frames: count,
        firstSample: count,
        samples: count,
      }),
    ),
    v.minLength(2),
  ),
});

/** Returns the split as plain data. */
export function packSplit({ parts, ...split }: VideoSplit): v.InferOutput<typeof SplitSchema> {
  return { ...split, parts: parts.map(({ path, ...part }) => ({ ...part, name: basename(path) })) };
}

/** @param folder folder of the parts @returns null for an invalid record */
export function unpackSplit(record: unknown, folder: string): VideoSplit | null {
  const parsed = v.safeParse(SplitSchema, record);
  if (!parsed.success) return null;
  const { parts, ...split } = parsed.output;
  // vloc never writes names that point outside the folder.
  return {
    ...split,
    parts: parts.map(({ name, ...part }) => ({ ...part, path: join(folder, basename(name)) })),
  };
}

/** Returns the cuts of a split, to create the same parts again. */
export function cutsOf({ parts, frameRate, picture }: VideoSplit): Cut[] {
  return parts.slice(1).map(({ firstFrame }) => ({
    frame: firstFrame,
    seconds: (firstFrame * frameRate.den) / frameRate.num,
    in: 'border',
    isClean: picture === 'copied',
  }));
}
