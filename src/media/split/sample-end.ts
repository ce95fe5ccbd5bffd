/** Finds where the sample of a video ends: at a pause shortly before its longest length. */
import type { TrackFacts, VideoFacts } from '../probe/facts.ts';
import type { Programs } from '../programs/programs.ts';
import type { Work } from '../work.ts';
import { type CutWindow, planCut } from './plan-cuts.ts';
import { measurePauses } from './split-long-video.ts';

/** Speakers pause more often than that; a sample that ends much earlier would show less than was asked for. */
const MOST_WINDOW_SECONDS = 10;
/** A shorter sample is searched in its last quarter. */
const MOST_SHARE = 1 / 4;
/** For the last frame and the padding of the encoder, which would otherwise begin another minute. */
const MARGIN_SECONDS = 0.5;

/** The part of a sample in which it may end. @param seconds longest length of the sample, from 5 */
function sampleWindow(seconds: number): CutWindow {
  const end = seconds - MARGIN_SECONDS;
  return { start: end - Math.min(MOST_WINDOW_SECONDS, seconds * MOST_SHARE), end, equal: end };
}

/**
 * Returns the end of the sample in seconds from the start of the file; the same for the same video.
 * @throws PreparationFailure if the sound cannot be decoded
 */
export async function findSampleEnd(
  programs: Programs,
  { path, facts, track }: { readonly path: string; readonly facts: VideoFacts; readonly track: TrackFacts },
  seconds: number,
  work: Work,
): Promise<number> {
  const window = sampleWindow(seconds);
  const timeline = { startSeconds: 0 };
  const heard = await measurePauses(programs, { path, track, timeline }, [window], work);
  // Any rate will do where the header has none: the end is rounded to a frame.
  const frameRate = facts.picture?.frameRate ?? { num: 25, den: 1 };
  const { bytes } = facts;
  return planCut(window, { durationSeconds: seconds, bytes, frameRate, ...heard }).seconds;
}
