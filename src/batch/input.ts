/** Inputs of items, and the problems of inputs that cannot be used. */

import { diskFailure, type Failure, usageFailure } from '../base/failure.ts';
import type { SoundFormat } from '../base/sound-formats.ts';
import type { SubtitleFormat, SubtitleLine } from '../protocol/subtitle-line.ts';
import type { Term } from './terms.ts';

/** Fields of every input. */
interface Named {
  /** For messages: the path as given or found, an address without its query, or an id. */
  readonly label: string;
  /** Names its results. */
  readonly stem: string;
  /** Path below its root, `/` between folders; an id or an address for anything but a file. The same in every run. */
  readonly name: string;
}

/** Facts about a file that are available without reading all of it. */
export interface FileFacts {
  readonly path: string;
  readonly bytes: number;
  /** Modification time, milliseconds since 1970. */
  readonly mtimeMs: number;
}

/** How a file is prepared before the upload. */
export interface FilePreparation {
  /** `remuxed`: another container, without re-encoding; `still`: sound in an MP4 with a still picture; null: no conversion. */
  readonly conversion: 'remuxed' | 'transcoded' | 'still' | null;
  /** Why, one sentence each, without the full stop. */
  readonly reasons: readonly string[];
  /** Number of the audio track that is used, from 1. */
  readonly track: number;
  /** Estimated number of parts; 1 if it is not cut. */
  readonly parts: number;
  /** Started minutes of all parts together; null if the length is unknown. */
  readonly minutes: number | null;
  /** Bytes that are made, about; absent for about those of the file. */
  readonly bytes?: number;
}

/** The beginning of a video, sent instead of all of it. */
export interface VideoSample {
  /** Longest length that was asked for, in seconds. The input has the length and the preparation of the sample. */
  readonly seconds: number;
  /** The same facts about the whole video. */
  readonly whole: Pick<FileInput, 'seconds' | 'preparation'>;
}

/** A file that was made of a file of the user, and is made again where it is gone. */
interface MadeOf {
  /** Lower-case hex. */
  readonly sha256: string;
  /** @throws Failure, Stopped */
  ensure(): Promise<{ readonly path: string; readonly bytes: number }>;
  /** The file was sent, or is not needed. */
  use(): void;
}

/** The voice of some lines of subtitles. */
export interface PartVoice {
  /** As the subtitles name them; null for everyone without a voice of their own. */
  readonly speaker: string | null;
  /** Value of the request field; null for that of the item. */
  readonly mode: string | null;
}

/** A part of subtitles: of those with more lines than the service accepts in one request, and of those with --voices. */
export interface LinesPart {
  /** Numbered from 1, with times relative to the start of the part. */
  readonly lines: readonly SubtitleLine[];
  /** Start of the part in the whole, in milliseconds. */
  readonly offsetMs: number;
  /** Missing for lines of all speakers. */
  readonly voice?: PartVoice;
}

export type VoicesByName = Readonly<Record<string, string>>;

export type JobInput =
  | (Named &
      FileFacts & {
        readonly type: 'file';
        /** Media type, by content. */
        readonly contentType: string;
        /** Null if it cannot be measured here. */
        readonly seconds: number | null;
        /** How it is prepared, or why it is sent as it is; null if neither needs a note. */
        readonly preparation: FilePreparation | null;
        /** Codec of a picture that an export on this machine cannot copy; absent if it can. */
        readonly uncopiedCodec?: string;
        /** Its format, if it is sound without a picture. */
        readonly sound?: SoundFormat;
        /** Channels of its sound; absent for one or two. */
        readonly channels?: number;
        /** Absent for the whole video. */
        readonly sample?: VideoSample;
        /** Set for a file that was made of another one. */
        readonly made?: MadeOf;
        /** It has no sound, so it gets no job and is copied into the results. */
        readonly isSilent?: true;
      })
  | (Named & { readonly type: 'url'; readonly url: string })
  | (Named & { readonly type: 'upload'; readonly id: string })
  /** A job whose result has lines: an id, kind/id or detail_url. */
  | (Named & { readonly type: 'job'; readonly reference: string })
  | (Named & {
      readonly type: 'lines';
      readonly lines: readonly SubtitleLine[];
      /** SHA-256 of the bytes read, lower-case hex. */
      readonly sha256: string;
      /** Null for stdin and for lines that are not a file's. */
      readonly file: FileFacts | null;
      /** The bytes of stdin, which cannot be read again; absent for others. */
      readonly stdin?: Uint8Array;
      /**
       * The format of the file, whose form a translation keeps in everything but the words; absent for a plain SRT, as services
       * return it, for JSON, and for lines that are not a file's.
       */
      readonly form?: SubtitleFormat;
      /** Null if the lines are sent in one request. */
      readonly parts: readonly LinesPart[] | null;
      /** The names of `say` that it has, which \`lines\` have in other words; missing without. */
      readonly said?: readonly Term[] | undefined;
      /** The voices that the user asked for, by lower-case name; missing without --voices. */
      readonly voices?: VoicesByName | undefined;
    })
  | UnusableInput;

/** A file of a folder that cannot be used. Its item fails on this machine, and the others run. */
export interface UnusableInput extends Named {
  readonly type: 'unusable';
  readonly path: string;
  /** Null if it cannot be read. */
  readonly bytes: number | null;
  readonly mtimeMs: number | null;
  /** Why, and how to fix it. */
  readonly detail: string;
}

export type FileInput = JobInput & { readonly type: 'file' };

/** Whether a converted file or parts are sent instead of the file. */
export function isPrepared({ preparation }: FileInput): boolean {
  return preparation !== null && (preparation.conversion !== null || preparation.parts > 1);
}

/** The whole video of a sample; other inputs unchanged. */
export function wholeOf(input: JobInput): JobInput {
  if (input.type !== 'file' || input.sample === undefined) return input;
  const { sample, ...file } = input;
  return { ...file, ...sample.whole };
}

/** Expected size of what is sent, in bytes: a sample has its share of the file. Conversion may change it. */
export function bytesToSend({ bytes, seconds, sample, preparation }: FileInput): number {
  if (preparation?.bytes !== undefined) return preparation.bytes;
  const whole = sample?.whole.seconds ?? null;
  return whole === null || seconds === null ? bytes : Math.round((bytes * seconds) / whole);
}

/** Whether the result is a copy of the input, without a job. */
export function isCopied(input: JobInput): boolean {
  return input.type === 'file' && input.isSilent === true;
}

/** Number of jobs for each target language: 1 for an input that is sent whole, 0 for one that is copied. */
export function countParts(input: JobInput): number {
  if (isCopied(input)) return 0;
  if (input.type === 'file') return input.preparation?.parts ?? 1;
  return input.type === 'lines' ? (input.parts?.length ?? 1) : 1;
}

/** Whether the input is sent in parts, whose results are joined. With voices, that may be one part. */
export function isSplit(input: JobInput): boolean {
  return input.type === 'lines' ? input.parts !== null : countParts(input) > 1;
}

/** A problem of an input or option: why it cannot be used, and how to fix it, in one sentence. */
export interface InputProblem {
  readonly pointer: string;
  readonly detail: string;
}

/** Problems shown for one item; the next run shows the others. */
const MOST_JOINED = 3;

/** All problems of one item as one sentence. @param own pointer of the item itself, which is not repeated */
export function joinProblems(problems: readonly InputProblem[], own: string): string {
  const shown = problems.slice(0, MOST_JOINED);
  const rest = problems.length - shown.length;
  const texts = shown.map(({ pointer, detail }) => (pointer === own ? detail : `${pointer}: ${detail}`));
  return [...texts, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
}

/** The result of checking a candidate. */
export type CheckedInput =
  | { readonly type: 'usable'; readonly input: JobInput; readonly notes?: readonly string[] }
  /** The right kind of input, but it cannot be used: why, and how to fix it, in one sentence. */
  | { readonly type: 'problem'; readonly detail: string; readonly isOwn?: true }
  /** Another kind of file: skipped in a folder, unless its name is that of an input. */
  | { readonly type: 'other'; readonly detail: string };

/** Failure code of a plan or an item that cannot be used. Nothing of it was sent. */
export const NOT_USABLE = 'NOT_USABLE';

/** The failure of a plan. @param shortage the lack of disk space; null if there is enough */
export function unusableInputFailure(
  problems: readonly InputProblem[],
  shortage: InputProblem | null,
): Failure {
  if (shortage !== null && problems.length === 0) {
    return diskFailure(
      'DISK_FULL',
      `${shortage.pointer} ${shortage.detail}; nothing was sent`,
      'Free some space, or choose a folder on another disk with --out.',
    );
  }
  const all = shortage === null ? problems : [...problems, shortage];
  const count = all.length === 1 ? '1 problem' : `${all.length} problems`;
  return usageFailure(NOT_USABLE, `${count} found; nothing was sent`, undefined, { errors: all });
}
