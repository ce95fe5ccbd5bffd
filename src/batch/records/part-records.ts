/** Records of prepared files. */

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
