/** Context of a command: streams, the output form, the signal that ends it, and the terminal. */

import type { Readable, Writable } from 'node:stream';
import type { StopSignal } from '../../base/exit-codes.ts';
import type { Failure } from '../../base/failure.ts';
import type { OptionTable, RawOptions } from '../../base/option.ts';
import type { watchFolder } from '../../batch/records/folder-watch.ts';
import type { ClientOptions, Runtime } from '../../client/index.ts';
import type { SplitLimits } from '../../media/split/limits.ts';
import type { ServiceFlags } from '../../profiles/settings.ts';
import type { OutputMode } from './output/forms.ts';
import type { Presenter } from './output/presentation.ts';

/** How far one piece of work is: `fraction` 0 to 1, null while unknown. */
export interface Step {
  readonly phase: string;
  readonly fraction: number | null;
  readonly detail?: string;
}

/** Progress on stderr, one line for each key. */
export interface Progress {
  show(key: string, step: Step): void;
  /** Replaces the line of the key by a final one. */
  end(key: string, outcome: 'done' | 'failed' | 'stopped', text: string): void;
  close(): void;
}

/** One of many pieces of work in progress. */
export interface RunningWork {
  readonly label: string;
  readonly step: Step;
  /** When it started, milliseconds since 1970. */
  readonly since: number;
}

/** The state of many pieces of work at one moment. */
export interface WorkSummary {
  /** Longest running first. */
  readonly running: readonly RunningWork[];
  readonly counts: {
    readonly total: number;
    readonly done: number;
    readonly running: number;
    readonly waiting: number;
    readonly failed: number;
    /** Not started or not finished, because the run stopped. */
    readonly left: number;
  };
  /** Expected time to the end in milliseconds; null while nothing is known. */
  readonly leftMs: number | null;
  /** What jobs have cost so far; null until one is known to cost something. */
  readonly cost: string | null;
  /** Slots of the service that this run may use; null before the first one is taken. */
  readonly slots: number | null;
  /** When the first result that was not downloaded expires, RFC 3339. */
  readonly deadline: string | null;
  /** Why no new work is started, one sentence; null while it is. */
  readonly stop: string | null;
}

/** The title of a column; without any titles there is no head. Cells under a bare title stay on one line, since they are copied: ids, for example. */
export type TableHead =
  | string
  | {
      readonly title: string;
      /** Cells down to which the column gets narrower if the table is too wide: its text is then on several lines. */
      readonly wraps?: number;
      /** Dropped if the table is too wide even so, the column with the highest number first. */
      readonly drops?: number;
      /** Cells that it has at least, for rows that are printed one by one. */
      readonly cells?: number;
      /** True if `failed` and `succeeded` may be coloured. */
      readonly status?: boolean;
    };

/** Output for people. Everything goes to stderr, except what `table` returns. */
export interface Terminal {
  note(text: string): void;
  warn(text: string): void;
  detail(text: string): void;
  progress(): Promise<Progress>;
  /** Progress of many pieces of work with totals; `look` is called for each refresh. */
  board(look: () => WorkSummary): Promise<Progress>;
  /** Formats rows as a table that fits the terminal on stdout; cells are escaped. */
  table(head: readonly TableHead[], rows: readonly (readonly string[])[]): Promise<string>;
  /** Asks for a yes on the terminal. @throws Failure (`usage`) without an answer, Interruption on Ctrl-C */
  confirm(question: Question): Promise<boolean>;
  /** Asks for a line that is not empty. @throws the same */
  ask(question: Question): Promise<string>;
}

export interface Question {
  readonly text: string;
  /** `hidden` does not show what is typed. */
  readonly typed: 'shown' | 'hidden';
  /** The option that answers it without a terminal. */
  readonly flag: string;
}

/** A limit on the credits of new jobs over several commands. */
export interface Spending {
  /** Null if it is unknown, because the cost of an earlier job is. */
  readonly left: () => number | null;
  /** Called with the credits of the new jobs of a run, whenever they change; null if they are unknown. */
  readonly count: (ofThisRun: number | null) => void;
}

export interface Context {
  readonly io: Io & TestSettings;
  /** The name of the output form, for messages. */
  readonly output: OutputMode;
  /** Prints the data of the command in this form. */
  readonly present: Presenter;
  /** The fields of --fields, in this order; null for all. */
  readonly fields: readonly string[] | null;
  /** Aborted by Ctrl-C, SIGTERM and SIGHUP, with an Interruption as reason, or by `fail`, with its failure. */
  readonly signal: AbortSignal;
  /** Ends the run as Ctrl-C does, but with this failure and its exit code; for errors of work in the background. */
  readonly fail: (failure: Failure) => void;
  /** Calls the listener for the next of these signals after the first, which otherwise ends the process immediately. */
  readonly onNextSignal: (listener: () => void) => void;
  readonly terminal: Terminal;
  /** Writes text to stdout that is the same in every form. */
  readonly print: (line: string) => void;
  /**
   * Resolves when everything printed so far is on stdout.
   * @throws Failure when it could not be written, or --jq failed
   */
  readonly printed: () => Promise<void>;
  /**
   * Adds the defaults of `vloc.config.json` to the options that were given.
   * @throws Failure (`configuration`) for a file that cannot be used
   */
  readonly addDefaults: (table: OptionTable, given: RawOptions) => Promise<RawOptions>;
  /** The command as it was typed, for messages that repeat it. */
  readonly commandLine: readonly string[];
  /** The command that continues this run, if it repeats another one: `batch retry`. */
  readonly repeatedBy?: readonly string[];
  /** The flags that choose the service. */
  readonly service: ServiceFlags;
  /** Missing for a command that runs alone. */
  readonly spending?: Spending;
}

/** Why a run was stopped from outside. */
export class Interruption extends Error {
  override readonly name = 'Interruption';
  readonly signalName: StopSignal;

  constructor(signalName: StopSignal) {
    super(signalName === 'SIGINT' ? 'interrupted' : 'terminated');
    this.signalName = signalName;
  }
}

/** A stream that may be a terminal; `columns` is its width in cells, `rows` its height. */
export type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/** How long inputs may be before they must be split; passed in, so that tests need no hours of video. */
export interface LongLimits {
  /** Longest video of one job, in seconds. */
  readonly seconds: number;
  /** Exclusive. */
  readonly bytes: number;
  /** Most subtitle lines of one job. */
  readonly lines: number;
  /** Limits of the parts of a video. */
  readonly parts: SplitLimits;
}

export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  /** The caller handles its errors: there is no other stream to report them on. */
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The name of the operating system, as Node gives it. */
  readonly platform: NodeJS.Platform;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Calls back on each signal that asks a run to stop; returns the call that stops it. */
  readonly onSignal: (listener: (signal: StopSignal) => void) => () => void;
  /** Limits the memory of a process that runs for hours or days; omitted: it is not limited. */
  readonly keepHeapSmall?: () => void;
  /** Exits immediately, for a second Ctrl-C: nothing more runs. */
  readonly abandon: (code: number) => void;
}

/** What tests set besides; a process sets none of it. */
export interface TestSettings {
  /** Clock, sleep and time limits of the client; omitted: those of the system. */
  readonly pace?: Pick<ClientOptions, 'timeouts'> & { readonly runtime?: Partial<Runtime> };
  /** How long inputs may be before they must be split; omitted: the limits of the service. */
  readonly limits?: LongLimits;
  /** How many milliseconds a check of `vloc doctor` or the look at an engine may take; omitted: 15 and 5 seconds. */
  readonly checkMs?: number;
  /** How many milliseconds an engine may take for the sample of `vloc engines test`; omitted: 5 minutes. */
  readonly trialMs?: number;
  /** The catalogue of `vloc models`; omitted: the one of this version. */
  readonly modelCatalog?: unknown;
  /** Waits until files come into a folder; omitted: the file watcher of the system. */
  readonly openWatch?: typeof watchFolder;
}
