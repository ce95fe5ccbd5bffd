/**
 * What must be done to an input that the service does not take as it is: plain data of a plan, and the port through which
 * a run has it done. The media work behind it is no business of a batch.
 */
import type { JobKind } from '../protocol/kind-names.ts';
import type { FileInput, FilePreparation, LinesPart } from './plan/input.ts';

/** A file that was made to be sent. */
export interface MadeFile {
  readonly path: string;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  /** Null when nothing here can measure it. */
  readonly seconds: number | null;
}

export interface MadeFiles {
  /** One for a video that stays whole; else its parts, in order. */
  readonly files: readonly MadeFile[];
  /** What joining needs to know of the parts, and cutting them once more: plain data for a record. Null for a whole one. */
  readonly split: unknown;
}

/** What each piece of preparation is handed. */
export interface PreparationWork {
  readonly signal: AbortSignal;
  /** An empty folder for results and what comes in between; its owner removes it. */
  readonly folder: string;
  /** Fraction done, 0 to 1. */
  readonly report: (fraction: number) => void;
}

export interface JoinTask {
  readonly kind: JobKind;
  /** Results of the parts, in order: by the label of the asset the path of its file. */
  readonly parts: readonly Readonly<Record<string, string>>[];
  readonly whole:
    | { readonly type: 'video'; readonly split: unknown }
    /** Where the parts begin, and where the last one ends, in milliseconds. */
    | { readonly type: 'lines'; readonly offsetsMs: readonly number[]; readonly endMs: number };
}

export interface JoinedFile {
  /** Label of the asset. */
  readonly label: string;
  /** In the work folder. */
  readonly path: string;
  /** What a person should know of it; empty when all is as it should be. */
  readonly notes: readonly string[];
}

/** The media work of a run. @throws Failure for what the file, the disk or a program is to blame for */
export interface Preparation {
  /** @param split that of an earlier run whose parts are to be cut at the same places; null to choose them */
  prepare(input: FileInput, split: unknown, work: PreparationWork): Promise<MadeFiles>;
  join(task: JoinTask, work: PreparationWork): Promise<readonly JoinedFile[]>;
}

/** What a look at a video before anything is sent has found. */
export type ExaminedVideo =
  | {
      readonly type: 'usable';
      /** Null when nothing here can measure it. */
      readonly seconds: number | null;
      /** Null for a file that is sent as it is. */
      readonly preparation: FilePreparation | null;
    }
  /** Why it cannot be used and how to fix it, in one sentence. */
  | { readonly type: 'problem'; readonly detail: string }
  /** No video at all. */
  | { readonly type: 'other'; readonly detail: string };

export type ExaminedLines =
  /** Null for subtitles that are sent whole. */
  | { readonly type: 'usable'; readonly parts: readonly LinesPart[] | null }
  | { readonly type: 'problem'; readonly detail: string };
