/** What items are made from: inputs that passed their checks, and files that did not. */

import { Failure } from '../../errors/failure.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';

/** What every input has. */
interface Named {
  /** For people: the path as it was given or found, an address without its query, an id. */
  readonly label: string;
  /** Names its results. */
  readonly stem: string;
  /** What it is called below its root, `/` between folders; an id or an address for what is no file. The same in every run. */
  readonly name: string;
}

/** What is known of a file's content without reading all of it. */
export interface FileFacts {
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since 1970, as the file system keeps it. */
  readonly mtimeMs: number;
}

/** What becomes of a file before it is uploaded. */
export interface FilePreparation {
  /** `remuxed`: another container, without re-encoding; null: its contents stay in the file that they are in. */
  readonly conversion: 'remuxed' | 'transcoded' | null;
  /** Why, one sentence each, without the final stop. */
  readonly reasons: readonly string[];
  /** Number of the audio track that is used, from 1. */
  readonly track: number;
  /** Into how many it is cut, as far as that can be told before; 1 leaves it whole. */
  readonly parts: number;
  /** Started minutes of all parts together; null while nobody knows how long it is. */
  readonly minutes: number | null;
}

/** A part of subtitles that have more lines than the service takes. */
export interface LinesPart {
  /** Numbered from 1, times from the beginning of the part. */
  readonly lines: readonly SubtitleLine[];
  /** Where the part begins in the whole, in milliseconds. */
  readonly offsetMs: number;
}

export type JobInput =
  | (Named &
      FileFacts & {
        readonly type: 'file';
        /** Media type, by content. */
        readonly contentType: string;
        /** Null when nothing here can measure it. */
        readonly seconds: number | null;
        /** What is done to it before it is sent, or why nothing is; null for one of which there is nothing to say. */
        readonly preparation: FilePreparation | null;
      })
  | (Named & { readonly type: 'url'; readonly url: string })
  | (Named & { readonly type: 'upload'; readonly id: string })
  /** A job whose result has lines: bare, kind/id or detail_url. */
  | (Named & { readonly type: 'job'; readonly reference: string })
  | (Named & {
      readonly type: 'lines';
      readonly lines: readonly SubtitleLine[];
      /** SHA-256 of the bytes that they were read from, lower-case hex. */
      readonly sha256: string;
      /** Null for stdin. */
      readonly file: FileFacts | null;
      /** More lines than the service takes go in parts; null for all others. */
      readonly parts: readonly LinesPart[] | null;
    })
  | UnusableInput;

/** A file of a folder that cannot be used as it is: its item fails on this machine, and the others run. */
export interface UnusableInput extends Named {
  readonly type: 'unusable';
  readonly path: string;
  /** Null for a file of which not even that can be read. */
  readonly bytes: number | null;
  readonly mtimeMs: number | null;
  /** Why, and how to fix it. */
  readonly detail: string;
}

export type FileInput = JobInput & { readonly type: 'file' };

/** Whether something else is sent in the place of the file. */
export function isMadeAnew({ preparation }: FileInput): boolean {
  return preparation !== null && (preparation.conversion !== null || preparation.parts > 1);
}

/** Jobs that an input takes for each language: 1 for one that is sent whole. */
export function countParts(input: JobInput): number {
  if (input.type === 'file') return input.preparation?.parts ?? 1;
  return input.type === 'lines' ? (input.parts?.length ?? 1) : 1;
}

/** Whether the input goes through the service in parts, whose results are joined. */
export function isSplit(input: JobInput): boolean {
  return countParts(input) > 1;
}

/** An input that cannot be used: why, with the fix in the same sentence. */
export interface InputProblem {
  readonly pointer: string;
  readonly detail: string;
}

/** As many as a person reads at once: the next run shows the others. */
const MOST_JOINED = 3;

/** All problems of one item as one sentence. @param own pointer that goes without saying */
export function joinProblems(problems: readonly InputProblem[], own: string): string {
  const shown = problems.slice(0, MOST_JOINED);
  const rest = problems.length - shown.length;
  const texts = shown.map(({ pointer, detail }) => (pointer === own ? detail : `${pointer}: ${detail}`));
  return [...texts, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
}

/** What became of a candidate. */
export type CheckedInput =
  | { readonly type: 'usable'; readonly input: JobInput }
  /** It is what the command works on, and cannot be used; why, with the fix in the same sentence. */
  | { readonly type: 'problem'; readonly detail: string }
  /** Not what the command works on: skipped in a folder, unless its name says otherwise. */
  | { readonly type: 'other'; readonly detail: string };

/** Code of the failure of what cannot be used, of a whole plan or of one item; nothing was sent of it. */
export const NOT_USABLE = 'NOT_USABLE';

/** The failure that a plan ends with; `shortage` is the lack of room on the disk, if there is one. */
export function unusable(problems: readonly InputProblem[], shortage: InputProblem | null): Failure {
  if (shortage !== null && problems.length === 0) {
    return new Failure({
      category: 'disk',
      code: 'DISK_FULL',
      message: `${shortage.pointer} ${shortage.detail}; nothing was sent`,
      advice: 'Free room, or choose a folder on another disk with --out.',
    });
  }
  const all = shortage === null ? problems : [...problems, shortage];
  const count = all.length === 1 ? '1 problem' : `${all.length} problems`;
  return new Failure({
    category: 'usage',
    code: NOT_USABLE,
    message: `${count} found; nothing was sent`,
    errors: all,
  });
}
