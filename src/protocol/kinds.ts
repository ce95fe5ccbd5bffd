/**
 * The table of the five job kinds. Commands, flags, client calls, routes, validators, completions, documents and
 * conformance cases are generated from it: a sixth kind needs one row here and one engine.
 */
import * as fields from './fields.ts';
import { ID_PREFIXES } from './id-prefixes.ts';
import type { JobKind } from './kind-names.ts';
import { RESULT_FORMATS, type ResultFormatName } from './result-formats.ts';

/** The unit of metering. Source: specification, "Metering". */
export type MeteringUnit = 'started_minute' | 'line' | 'started_thousand_characters';

/** One part of a result: a file behind a download URL, a list of lines, or a plain value. */
export type ResultPart =
  | {
      readonly type: 'asset';
      /** A row of `RESULT_FORMATS`, which also contains the next two fields. */
      readonly format: ResultFormatName;
      readonly contentType: string;
      readonly extension: string;
      readonly label: string;
    }
  | { readonly type: 'lines' }
  | { readonly type: 'language' }
  | { readonly type: 'seconds' };

export interface Kind {
  /** Path segment of the collection, below the version. */
  readonly path: string;
  /** Used in operation ids: `create` + noun, `list` + plural. */
  readonly noun: string;
  readonly plural: string;
  /** The command that makes such jobs. */
  readonly command: string;
  /** In sentences: `waits for its recognition`. */
  readonly work: string;
  /** In progress: `recognizing`. */
  readonly doing: string;
  readonly idPrefix: string;
  /** The path parameter of the single resource. */
  readonly idParameter: string;
  /** The type of input, which decides the purpose of an upload. */
  readonly input: 'video' | 'subtitle';
  /** A one-line summary for help and documents. */
  readonly summary: string;
  readonly unit: MeteringUnit;
  readonly fields: Readonly<Record<string, fields.Field>>;
  readonly result: Readonly<Record<string, ResultPart>>;
}

/** Returns an asset of that format, without its label. */
function asset<Name extends ResultFormatName>(format: Name) {
  const { contentType, extension } = RESULT_FORMATS[format];
  return { type: 'asset', format, contentType, extension } as const;
}

const WAV = asset('wav');
const SRT = { ...asset('srt'), label: 'subtitle' } as const;

export const KINDS = {
  audio_separation: {
    path: 'audio-separations',
    noun: 'AudioSeparation',
    plural: 'AudioSeparations',
    command: 'separate',
    work: 'separation',
    doing: 'separating',
    idPrefix: ID_PREFIXES.audio_separation,
    idParameter: 'audio_separation_id',
    input: 'video',
    summary: 'split the sound of a video into voice and background',
    unit: 'started_minute',
    fields: { source: fields.SOURCE },
    result: {
      vocal_audio: { ...WAV, label: 'vocals' },
      background_audio: { ...WAV, label: 'background' },
    },
  },
  subtitle_recognition: {
    path: 'subtitle-recognitions',
    noun: 'SubtitleRecognition',
    plural: 'SubtitleRecognitions',
    command: 'recognize',
    work: 'recognition',
    doing: 'recognizing',
    idPrefix: ID_PREFIXES.subtitle_recognition,
    idParameter: 'subtitle_recognition_id',
    input: 'video',
    summary: 'transcribe a video into subtitles',
    unit: 'started_minute',
    fields: { source: fields.SOURCE, source_language: fields.SOURCE_LANGUAGE },
    result: { subtitle: SRT, language: { type: 'language' }, lines: { type: 'lines' } },
  },
  subtitle_translation: {
    path: 'subtitle-translations',
    noun: 'SubtitleTranslation',
    plural: 'SubtitleTranslations',
    command: 'translate',
    work: 'translation',
    doing: 'translating',
    idPrefix: ID_PREFIXES.subtitle_translation,
    idParameter: 'subtitle_translation_id',
    input: 'subtitle',
    summary: 'translate subtitles into another language',
    unit: 'line',
    fields: {
      subtitle: fields.SUBTITLE,
      source_language: fields.SOURCE_LANGUAGE,
      target_language: fields.TARGET_LANGUAGE,
    },
    result: { subtitle: SRT, language: { type: 'language' }, lines: { type: 'lines' } },
  },
  dubbing: {
    path: 'dubbings',
    noun: 'Dubbing',
    plural: 'Dubbings',
    command: 'dub',
    work: 'dub',
    doing: 'dubbing',
    idPrefix: ID_PREFIXES.dubbing,
    idParameter: 'dubbing_id',
    input: 'subtitle',
    summary: 'make a spoken sound track from subtitles, at their times',
    unit: 'started_thousand_characters',
    fields: {
      subtitle: fields.SUBTITLE,
      target_language: fields.TARGET_LANGUAGE,
      voice_mode: fields.VOICE_MODE,
    },
    result: { audio: { ...WAV, label: 'dub' }, duration_seconds: { type: 'seconds' } },
  },
  auto_localization: {
    path: 'auto-localizations',
    noun: 'AutoLocalization',
    plural: 'AutoLocalizations',
    command: 'localize',
    work: 'localization',
    doing: 'localizing',
    idPrefix: ID_PREFIXES.auto_localization,
    idParameter: 'auto_localization_id',
    input: 'video',
    summary: 'translate and dub a whole video',
    unit: 'started_minute',
    fields: {
      source: fields.SOURCE,
      source_language: fields.SOURCE_LANGUAGE,
      target_language: fields.TARGET_LANGUAGE,
      mode: fields.MODE,
      voice_mode: fields.VOICE_MODE,
      subtitle_output: fields.SUBTITLE_OUTPUT,
      original_audio: fields.ORIGINAL_AUDIO,
      resolution: fields.RESOLUTION,
    },
    result: {
      video: { ...asset('mp4'), label: 'video' },
      duration_seconds: { type: 'seconds' },
    },
  },
} as const satisfies Record<JobKind, Kind>;

export type Kinds = typeof KINDS;
