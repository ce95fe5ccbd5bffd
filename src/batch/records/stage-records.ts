/** Records of a localization in stages besides its jobs: subtitles written for users to edit, and finished videos. */
import type { TermLoss } from '../terms.ts';

/** Written once the file is in its place. */
export interface FinishedVideo {
  readonly type: 'stage_export';
  readonly at: string;
  /** Key of the item. */
  readonly item: string;
  /** Relative to the output folder. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
  /** Digest of everything that it was made from. */
  readonly made_of: string;
  /** The source subtitles and the translation, relative to the output folder; null if they were not needed. */
  readonly source: string | null;
  readonly target: string | null;
  /** Digest of the translated lines, as their file kept them; null if they were not needed. */
  readonly target_lines: string | null;
  /** Terms that a translation of the user lacks, with its path like `target`; missing for none, and for one that a job has made. */
  readonly lost_terms?: readonly TermLoss[];
}

/** A subtitle file for the user, from all its records. */
export interface WrittenSubtitle {
  /** Name of the video below its root. */
  readonly video: string;
  readonly role: 'source' | 'target';
  /** BCP 47 tag; `und` if unknown. */
  readonly language: string;
  /** Relative to the output folder. */
  readonly path: string;
  /** Digests of what vloc wrote there. A file with another digest was edited. */
  readonly digests: ReadonlySet<string>;
}

export interface StageRecords {
  /** By path relative to the output folder. */
  readonly subtitles: ReadonlyMap<string, WrittenSubtitle>;
  /** By key of the item. */
  readonly finished: ReadonlyMap<string, FinishedVideo>;
}
