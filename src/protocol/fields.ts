/**
 * The request fields of the job kinds, as data. Validators, flags, help and the OpenAPI document are generated from it.
 * spec: open — which fields are required, their values and defaults are not specified.
 */

/** A video: an https URL or a ready upload. A subtitle may also be structured lines. */
export type Field =
  | { readonly type: 'source'; readonly required: true; readonly help: string }
  | { readonly type: 'subtitle'; readonly required: true; readonly help: string }
  | { readonly type: 'language'; readonly required: true; readonly help: string }
  | { readonly type: 'language'; readonly required: false; readonly default: 'auto'; readonly help: string }
  | {
      readonly type: 'choice';
      readonly required: false;
      readonly choices: readonly string[];
      readonly default: string;
      readonly help: string;
    }
  | { readonly type: 'reference'; readonly required: false; readonly help: string }
  | { readonly type: 'callback'; readonly required: false; readonly help: string };

export const SOURCE = {
  type: 'source',
  required: true,
  help: 'the video: a public https address or a ready upload',
} as const satisfies Field;

export const SUBTITLE = {
  type: 'subtitle',
  required: true,
  help: 'the subtitles: SRT by https address or ready upload, or structured lines',
} as const satisfies Field;

export const SOURCE_LANGUAGE = {
  type: 'language',
  required: false,
  default: 'auto',
  help: 'source language, a BCP 47 tag or auto',
} as const satisfies Field;

export const TARGET_LANGUAGE = {
  type: 'language',
  required: true,
  help: 'target language, a BCP 47 tag',
} as const satisfies Field;

export const MODE = {
  type: 'choice',
  required: false,
  choices: ['standard', 'subtitles_only'],
  default: 'standard',
  help: 'dub the voice, or keep it and only translate the subtitles',
} as const satisfies Field;

export const VOICE_MODE = {
  type: 'choice',
  required: false,
  choices: ['auto', 'female', 'male'],
  default: 'auto',
  help: 'voice of the dub',
} as const satisfies Field;

export const SUBTITLE_OUTPUT = {
  type: 'choice',
  required: false,
  choices: ['none', 'soft', 'burned'],
  default: 'none',
  help: 'subtitles in the result: none, a track that can be switched off, or drawn into the picture',
} as const satisfies Field;

export const ORIGINAL_AUDIO = {
  type: 'choice',
  required: false,
  choices: ['background', 'duck', 'mute'],
  default: 'background',
  help: 'original sound to keep: all but the voice (background), all at a lower volume (duck), or none (mute)',
} as const satisfies Field;

export const RESOLUTION = {
  type: 'choice',
  required: false,
  choices: ['source', '1080p', '720p', '480p'],
  default: 'source',
  help: 'height of the picture; never enlarged',
} as const satisfies Field;

/** Optional in every create request. */
export const COMMON_FIELDS = {
  client_reference: { type: 'reference', required: false, help: 'your own reference, 1 to 128 characters' },
  callback_url: { type: 'callback', required: false, help: 'HTTPS URL to notify when the job ends' },
} as const satisfies Record<string, Field>;
