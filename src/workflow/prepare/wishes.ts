/** What the user allows to be done to inputs that the service does not take as they are. */

import type { OptionTable } from '../../context/command.ts';
import { Failure } from '../../errors/failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';

export interface Wishes {
  readonly convert: boolean;
  readonly split: boolean;
  /** From 1; null leaves the choice to us. */
  readonly audioTrack: number | null;
}

const SPLIT = {
  split: {
    type: 'flag',
    help: 'cut videos that are too long for one job at silences, run the parts, and join them; each part is a job',
  },
} as const satisfies OptionTable;

const CONVERT = {
  convert: {
    type: 'flag',
    help: 'make an MP4 of a video that the service does not take, such as MKV, WebM or TS, before it is sent',
  },
  audioTrack: {
    type: 'number',
    value: 'n',
    help: 'which audio track of a video with several, counted from 1',
  },
} as const satisfies OptionTable;

/** The options of a kind's command; subtitles have no container and no tracks. */
export function preparationOptions(kind: JobKind): OptionTable {
  return KINDS[kind].input === 'video' ? { ...SPLIT, ...CONVERT } : SPLIT;
}

/** @throws Failure of category usage for a track that cannot be */
export function readWishes(options: Readonly<Record<string, unknown>>): Wishes {
  const { audioTrack } = options;
  const isTrack = typeof audioTrack === 'number';
  if (isTrack && !(Number.isInteger(audioTrack) && audioTrack >= 1)) {
    const message = '--audio-track takes a whole number from 1';
    const advice = 'Nothing was sent; correct it.';
    throw new Failure({ category: 'usage', code: 'USAGE', message, advice });
  }
  return {
    convert: options.convert === true,
    split: options.split === true,
    audioTrack: isTrack ? audioTrack : null,
  };
}
