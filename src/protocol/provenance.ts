/**
 * Provenance of a result: the engines that made it, and how its speech fits. No operation of the API returns it; the process of the
 * service and its control interface do.
 */

/** The steps of jobs that engines do. */
export const ENGINE_STEPS = ['recognize', 'translate', 'speak', 'separate'] as const;

/** The same, and the export, which is only there if it changed a picture or sound that nobody asked to change, or if no font has a character. */
export const PROVENANCE_STEPS = [...ENGINE_STEPS, 'export'] as const;

/**
 * How speech was made to fit its time: spoken faster, stretched as well or instead, or cut off as well. `shift`: it fits, but
 * begins at another time than its cue.
 */
export const CUE_FITS = ['speed', 'tempo', 'cut', 'shift'] as const;

/**
 * Why a recognized text cannot have been said: it repeats a phrase again and again, has more letters than the time allows, lies where
 * nobody speaks, or is the text before it once more, without the time for it.
 */
export const DROP_REASONS = ['loop', 'fast', 'silence', 'copy'] as const;

/** Engines of a job, and speech that was changed to fit. */
export interface Provenance {
  /** One entry per step. `skipped`: preferred engines that do not support the language. */
  readonly engines: readonly {
    readonly step: (typeof PROVENANCE_STEPS)[number];
    readonly engine: string;
    readonly skipped: readonly string[];
    /** True if the step was not done again, because another job had the same input, engines and settings. */
    readonly reused?: boolean;
    /** Where its model ran, such as `NVIDIA H200 (Vulkan), all 33 layers`. */
    readonly where?: string;
    /** True if no voice was found, so that the voice track is silent. */
    readonly silent?: boolean;
    /** Characters of burned subtitles that no font has. */
    readonly unshown?: readonly string[];
    /** Channels of surround sound, of which the export made two. */
    readonly mixed?: number;
    /** Recognized texts that were dropped, in order of time; their beginnings. */
    readonly dropped?: readonly {
      readonly start_ms: number;
      readonly end_ms: number;
      readonly text: string;
      readonly reason: (typeof DROP_REASONS)[number];
      /** From 1, for an item in parts: the times are those in the part. */
      readonly part?: number;
    }[];
    /** Level of the original voice that is left in the background, in decibels compared with it; missing if it is not noticed. */
    readonly residue?: number;
  }[];
  /** Texts whose speech did not fit their time as it was. */
  readonly cues: readonly {
    /** Indexes of the lines that were spoken as one text. */
    readonly cues: readonly number[];
    readonly fit: (typeof CUE_FITS)[number];
    /** Speed of the voice; 1 is natural. */
    readonly speed: number;
    /** Factor by which the recording was stretched; 1 if it was not. */
    readonly tempo: number;
    /** Seconds that were cut off at the end. */
    readonly cut_seconds: number;
    /** How much later than its cue the speech begins, if that is noticed; negative if it begins earlier. */
    readonly shift_seconds?: number;
  }[];
}

/** Listeners notice a voice that is faster than this. */
export const NOTICED_TEMPO = 1.15;

/** Viewers notice words that are further from their cue, in seconds. */
export const NOTICED_SHIFT = 0.6;

/** How many times as fast as natural the speech of a cue is. */
export function totalTempo({ speed, tempo }: Provenance['cues'][number]): number {
  return speed * tempo;
}

/** Whether listeners notice what was done to a cue: it is too fast, cut off, or far from its time. */
export function isNoticed(cue: Provenance['cues'][number]): boolean {
  return cue.fit === 'cut' || totalTempo(cue) > NOTICED_TEMPO || cue.shift_seconds !== undefined;
}
