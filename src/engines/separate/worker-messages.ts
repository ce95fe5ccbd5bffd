/** Messages between the service and the separation worker: arguments in, one JSON object per line out. */
import { AUDIO_FILES } from '../../media/audio/decode-audio.ts';
import type { Segment } from '../../media/audio/segments.ts';

export type WorkerMessage =
  | { readonly type: 'progress'; readonly fraction: number }
  | { readonly type: 'speech'; readonly segments: readonly Segment[] };

/** File names in the work folder. */
export const WORKER_FILES = {
  ...AUDIO_FILES,
  vocals: 'vocals.wav',
  background: 'background.wav',
  denoised: 'denoised.wav',
  voice: 'voice-48k.wav',
  speech: 'voice-16k.wav',
} as const;

/** Argument after the folder that requests the voice track for recognition. */
export const WITH_VOICE = '--voice';
/** Argument that requests only the detection of speech, in the file `speech`. */
export const DETECT_ONLY = '--detect';
