/** What the separation worker and the service tell each other: arguments in, one JSON object a line out. */
import type { Segment } from './segments.ts';

export type WorkerMessage =
  | { readonly type: 'progress'; readonly fraction: number }
  | {
      readonly type: 'speech';
      readonly segments: readonly Segment[];
      readonly speechDecibels: number | null;
    };

/** Names of the files in the work folder. */
export const WORKER_FILES = {
  mix: 'mix.wav',
  mono: 'mix-16k.wav',
  vocals: 'vocals.wav',
  background: 'background.wav',
  voice: 'voice-48k.wav',
} as const;

/** Argument behind the folder that asks for the voice track for recognition. */
export const WITH_VOICE = '--voice';
