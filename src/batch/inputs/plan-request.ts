/** Input of the planner, and the functions that it calls. */

import type { Readable } from 'node:stream';
import type { Look } from '../../media/subtitles/look.ts';
import type { SourcePlace } from '../../media/work.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { Speakers, SpokenLine, SubtitleFormat, SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { InputProblem } from '../input.ts';
import type { ExaminedLines, ExaminedVideo } from '../preparation.ts';
import type { Terms } from '../terms.ts';
import type { Candidate, ReadOptions } from './candidate.ts';
import type { ResultOptions, RewriteSubtitle } from './delivery.ts';
import type { TextFieldOption } from './field-flags.ts';
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
    readonly keepAudio?: boolean | undefined;
    readonly keepSubtitles?: boolean | undefined;
    readonly bilingual?: SourcePlace | undefined;
    readonly mark?: boolean | undefined;
    readonly noMark?: boolean | undefined;
    readonly oneFile?: boolean | undefined;
    /** The language that players start with. */
    readonly default?: string | undefined;
    readonly soundOnly?: boolean | undefined;
    /** In LUFS. */
    readonly loudness?: string | undefined;
  };

export interface PlanRequest {
  readonly kind: JobKind;
  readonly operands: readonly string[];
  readonly options: PlanOptions;
  /** Request fields from outside the options, such as --body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Problems found earlier; they are reported together with those of the plan. */
  readonly problems: readonly InputProblem[];
  /** The style of --subtitle-style. */
  readonly look?: Look | undefined;
  /** Those of --terms; missing without. */
  readonly terms?: Terms | undefined;
  /** Selects files found in folders. Then it is not a problem if there is none. Omitted: all files. */
  readonly isWanted?: FileFilter;
}

/** Called before anything of the file is read. */
export type FileFilter = (found: Pick<Candidate, 'path' | 'name'>) => boolean;

/** Subtitles as they are sent. */
export interface SubtitleContent {
  readonly lines: readonly SpokenLine[];
  /** See `JobInput`. */
  readonly form?: SubtitleFormat;
  /** What the user should know about the reading, in sentences. */
  readonly notes: readonly string[];
}

/** External functions and limits of the planner. */
export interface PlanIo {
  /** Called with the number of files before the first of them is examined, which may take minutes. */
  readonly onRead?: ((files: number) => void) | undefined;
  readonly cwd: string;
  readonly stdin: Readable;
  /**
   * Examines a video: its length, and whether the service accepts it, as it is or after the allowed preparation.
   * @param file `isTaken`: its first bytes are those of a container that the service accepts
   */
  readonly examineVideo: (
    path: string,
    file: { readonly bytes: number; readonly isTaken: boolean },
  ) => Promise<ExaminedVideo>;
  /** Examines subtitles. */
  readonly examineLines: (lines: readonly SubtitleLine[], speakers: Speakers) => Promise<ExaminedLines>;
  /** Reads subtitles of all formats. Returns the reason if it cannot. Omitted: only SRT is read. */
  readonly readSubtitle?: (bytes: Uint8Array, name: string) => Promise<SubtitleContent | string>;
  readonly rewriteSubtitle?: RewriteSubtitle;
  /** Free bytes in the folder; null if unknown. */
  readonly freeBytes: (folder: string) => Promise<number | null>;
}
