/** What a command works with: streams, the chosen output, the signal that ends it, and the terminal. */

import type { Readable, Writable } from 'node:stream';
import type { CreditTotals } from '../batch/item.ts';
import type { ClientOptions } from '../client/index.ts';
import type { Failure } from '../errors/failure.ts';
import type { watchFolder } from '../journal/folder-watch.ts';
import type { SplitLimits } from '../prepare/split/limits.ts';
import type { ServiceFlags } from '../profiles/settings.ts';

export const OUTPUT_MODES = ['table', 'json', 'ndjson', 'plain', 'id'] as const;
export type OutputMode = (typeof OUTPUT_MODES)[number];

/** How far one piece of work is: `fraction` 0 to 1, null while unknown. */
export interface Step {
  readonly phase: string;
  readonly fraction: number | null;
  readonly detail?: string;
}

/** Progress on stderr, one line for each key. */
export interface Progress {
  show(key: string, step: Step): void;
  /** Replaces the line of the key by a last one that stays. */
  end(key: string, outcome: 'done' | 'failed' | 'stopped', text: string): void;
  close(): void;
}

/** One of many pieces of work, while it goes on. */
export interface RunningWork {
  readonly label: string;
  readonly step: Step;
  /** When it began, milliseconds since 1970. */
  readonly since: number;
}

/** How many pieces of work stand at one moment. */
export interface WorkPicture {
  /** Longest running first. */
  readonly running: readonly RunningWork[];
  readonly counts: {
    readonly total: number;
    readonly done: number;
    readonly running: number;
    readonly waiting: number;
    readonly failed: number;
    /** Not begun, or not followed to the end, because the whole came to a stop. */
    readonly left: number;
  };
  /** Expected time to the end in milliseconds; null while nothing is known. */
  readonly leftMs: number | null;
  /** Null while no job has told. */
  readonly credits: CreditTotals | null;
  /** Slots of the service that this run may use; null before the first one is taken. */
  readonly slots: number | null;
  /** When the first result that is not here yet lapses, RFC 3339. */
  readonly deadline: string | null;
  /** Why no more work is begun, one sentence; null while it is. */
  readonly stop: string | null;
}

/** The title of a column; cells under a bare title are never shortened, since they are copied: ids, paths. */
export type TableHead =
  | string
  | {
      readonly title: string;
      /** Shortened when the table is too wide: the highest number first. */
      readonly shrinks?: number;
      /** Cells that it keeps as long as another column can be dropped. */
      readonly least?: number;
      /** True for one that is dropped where others would become too narrow to read. */
      readonly drops?: boolean;
      /** True where `failed` and `succeeded` have a meaning that colour may show. */
      readonly status?: boolean;
    };

/** People's side of the output; everything here goes to stderr but what `table` returns. */
export interface Terminal {
  note(text: string): void;
  warn(text: string): void;
  detail(text: string): void;
  progress(): Promise<Progress>;
  /** Progress of many pieces of work with totals; `look` is asked how they stand whenever that is shown. */
  board(look: () => WorkPicture): Promise<Progress>;
  /** Lays rows out as a table that fits a terminal on stdout; cells are escaped. */
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

export interface Context {
  readonly io: Io;
  readonly output: OutputMode;
  /** What of each record is wanted, in this order; null for all of it. */
  readonly fields: readonly string[] | null;
  /** Aborted by Ctrl-C and SIGTERM, with an Interruption as reason, or by `fail`, with its failure. */
  readonly signal: AbortSignal;
  /** Ends the run as Ctrl-C does, but with this failure and its exit code: for what nobody waits for. */
  readonly fail: (failure: Failure) => void;
  readonly terminal: Terminal;
  /** Writes data to stdout, a line at a time. */
  readonly print: (line: string) => void;
  /**
   * Resolves when everything printed so far is on stdout.
   * @throws Failure when it could not be written, or --jq made nothing of it
   */
  readonly printed: () => Promise<void>;
  /** The command as it was typed, for messages that name it again. */
  readonly commandLine: readonly string[];
  /** What the flags say of the service. */
  readonly service: ServiceFlags;
}

/** Why a run was stopped from outside. */
export class Interruption extends Error {
  override readonly name = 'Interruption';
  readonly signalName: 'SIGINT' | 'SIGTERM';

  constructor(signalName: 'SIGINT' | 'SIGTERM') {
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
  /** Longest video that is sent whole, in seconds. */
  readonly seconds: number;
  /** Exclusive. */
  readonly bytes: number;
  /** Most lines of subtitles that are sent whole. */
  readonly lines: number;
  /** What parts of videos keep to. */
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
  /** Clock, sleep and time limits of the client; omitted: those of the system. */
  readonly pace?: Pick<ClientOptions, 'runtime' | 'timeouts'>;
  /** How long inputs may be before they must be split; omitted: the limits of the service. */
  readonly limits?: LongLimits;
  /** How many milliseconds a check of `vloc doctor` may take; omitted: 5 seconds. */
  readonly checkMs?: number;
  /** Waits until files come into a folder; omitted: the file watcher of the system. */
  readonly openWatch?: typeof watchFolder;
  /** Calls back on Ctrl-C and on SIGTERM; returns the call that stops it. */
  readonly onSignal: (listener: (signal: 'SIGINT' | 'SIGTERM') => void) => () => void;
  /** Leaves at once, for a second Ctrl-C: nothing more runs. */
  readonly abandon: (code: number) => void;
}
