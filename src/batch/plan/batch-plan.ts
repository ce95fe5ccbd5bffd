/** What goes into a plan, and what comes out. */

import type { Readable } from 'node:stream';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { BatchItem } from '../item.ts';
import type { ExaminedLines, ExaminedVideo } from '../preparation.ts';
import type { Candidate, ReadOptions } from './candidate.ts';
import type { Choices, Decision, Recorded } from './decision.ts';
import type { Delivery, ResultOptions, SubtitleRewrite } from './delivery.ts';
import type { TextFieldOption } from './field-flags.ts';
import type { InputProblem } from './input.ts';
import type { Order } from './items.ts';

/** The options of a job command that a plan reads. */
export type PlanOptions = ResultOptions &
  ReadOptions & { readonly [Name in TextFieldOption]?: string | undefined } & {
    /** Target languages. */
    readonly to?: readonly string[] | undefined;
    /** Further request fields, by name. */
    readonly set?: Readonly<Record<string, string>> | undefined;
    readonly include?: readonly string[] | undefined;
    readonly exclude?: readonly string[] | undefined;
    readonly order?: Order | undefined;
    readonly watch?: boolean | undefined;
  };

export interface PlanRequest {
  readonly kind: JobKind;
  readonly operands: readonly string[];
  readonly options: PlanOptions;
  /** Request fields from outside the options, such as --body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Found before; told together with those found here. */
  readonly problems: readonly InputProblem[];
  /** Of the files that folders hold only these, and none is not a problem; omitted: all of them. */
  readonly isWanted?: FileFilter;
}

/** Asked before anything of the file is read. */
export type FileFilter = (found: Pick<Candidate, 'path' | 'name'>) => boolean;

export interface PlannedItem {
  readonly item: BatchItem;
  readonly decision: Decision;
  /** Where its results go, absolute; null while that depends on what the job finds out. */
  readonly paths: readonly string[] | null;
}

export interface BatchPlan {
  readonly kind: JobKind;
  readonly planned: readonly PlannedItem[];
  readonly delivery: Delivery;
  /** Notes for the user: skipped files, names of the same file. */
  readonly notes: readonly string[];
}

/** What has been done before: the journal of the folder, and how to compare with it. */
export interface History {
  readonly recorded: Recorded;
  readonly choices: Choices;
}

/** What a plan takes from outside. */
export interface PlanIo {
  readonly cwd: string;
  readonly stdin: Readable;
  /**
   * Looks at a video: how long it is, and whether the service takes it, as it is or after what the user allows.
   * @param file `isTaken`: by its first bytes it is in a container that the service takes
   */
  readonly examineVideo: (
    path: string,
    file: { readonly bytes: number; readonly isTaken: boolean },
  ) => Promise<ExaminedVideo>;
  /** The same for subtitles that were read. */
  readonly examineLines: (lines: readonly SubtitleLine[]) => Promise<ExaminedLines>;
  /** Reads subtitles of all formats; returns a sentence when it cannot. Omitted: only SRT is read. */
  readonly readSubtitle?: (bytes: Uint8Array, name: string) => Promise<readonly SubtitleLine[] | string>;
  /** The writer of a format by its name; none for the service's own. */
  readonly rewriteSubtitle?: (format: string) => SubtitleRewrite | undefined;
  /** Bytes that are free for a file in the folder, null when the system does not tell. */
  readonly freeBytes: (folder: string) => Promise<number | null>;
}
