/** Records of prepared files, and of joined results. */
import type { StoredFile } from '../records/intents.ts';

/** Files made from one input, written when all are complete. A later run reuses them, or cuts at the same places. */
export interface PreparedRecord {
  readonly type: 'prepared';
  /** SHA-256 of the input. */
  readonly source: string;
  /** How they were made. */
  readonly recipe: string;
  /** Names in the folder of the preparation, in order. */
  readonly files: readonly {
    readonly name: string;
    readonly bytes: number;
    readonly sha256: string;
    readonly seconds: number | null;
  }[];
  readonly split: unknown;
}

/** Written before joined results get their names, so that a later run recognizes them. */
export interface JoiningRecord {
  readonly type: 'joining';
  /** Key of the item. */
  readonly item: string;
  /** See `digestMaking`. */
  readonly made: string;
  readonly files: readonly StoredFile[];
}
