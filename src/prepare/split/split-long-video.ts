/** From a video that is too long or too large to the parts that the service takes, in one call. */
import type { Work } from '../../engines/engine.ts';
import type { Programs } from '../../engines/programs.ts';
import { PreparationFailure } from '../failure.ts';
import type { TrackFacts, VideoFacts } from '../media/facts.ts';
import type { Timeline } from '../media/timeline.ts';
import { countParts, SERVICE_SPLIT, type SplitLimits, type VideoSize } from './limits.ts';
import { listen } from './listen.ts';
import { type Cut, planCuts } from './plan-cuts.ts';
import { splitVideo, type VideoSplit } from './split-video.ts';
import { cutWindows, type Stretch } from './windows.ts';

export interface LongVideo {
  readonly path: string;
  readonly facts: VideoFacts;
  readonly timeline: Timeline;
  readonly track: TrackFacts;
  /** Subtitles that exist already, in seconds: no cut lies inside one. */
  readonly cues?: readonly Stretch[];
}

/** When a part is too large, one more is tried, this often: more means that something else is wrong. */
const MOST_ATTEMPTS = 3;
/** Listening takes this share of the time. */
const LISTENING_SHARE = 0.1;

/**
 * Listens, plans the cuts and writes the parts into the work folder.
 * @throws PreparationFailure as `splitVideo`; PART_TOO_LARGE only when even more parts do not keep the limit of bytes
 */
export async function splitLongVideo(
  programs: Programs,
  video: LongVideo,
  work: Work,
  limits: SplitLimits = SERVICE_SPLIT,
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

/** Listens around the equal points of so many parts and says where the video is to be cut; the same for the same video. */
export async function findCuts(
  programs: Programs,
  video: LongVideo,
  work: Work,
  { limits, parts }: { readonly limits: SplitLimits; readonly parts: number },
): Promise<Cut[]> {
  const { frameRate, cleanFrames } = video.timeline;
  const size = sizeOf(video);
  const heard = await listen(programs, video, cutWindows(size, limits, parts), work);
  return planCuts({ ...size, frameRate, cleanFrames, cues: video.cues ?? [], ...heard }, limits, parts);
}

function sizeOf({ timeline, facts }: LongVideo): VideoSize {
  return { durationSeconds: timeline.durationSeconds, bytes: facts.bytes };
}
