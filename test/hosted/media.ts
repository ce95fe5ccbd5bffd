/** Small made-up results, in the formats that the specification promises. */
import { silentWav } from '../support/wav.ts';

/** By the last part of the path of a download. */
export const FILES: Readonly<Record<string, Buffer>> = {
  vocal_audio: silentWav(),
  background_audio: silentWav(),
  audio: silentWav(),
  subtitle: Buffer.from('1\n00:00:00,000 --> 00:00:01,000\nhola\n'),
  video: Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), Buffer.alloc(50_000, 'v')]),
};

/** The files of each kind of job, by the path of its collection. */
export const ASSETS: Readonly<Record<string, { object: string; names: readonly string[] }>> = {
  'audio-separations': { object: 'audio_separation', names: ['vocal_audio', 'background_audio'] },
  'subtitle-recognitions': { object: 'subtitle_recognition', names: ['subtitle'] },
  'subtitle-translations': { object: 'subtitle_translation', names: ['subtitle'] },
  dubbings: { object: 'dubbing', names: ['audio'] },
  'auto-localizations': { object: 'auto_localization', names: ['video'] },
};
