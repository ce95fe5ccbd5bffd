/** Records of a localization in stages besides its jobs: subtitles written for users to edit, and finished videos. */
import type { TermLoss } from '../terms.ts';

/** Written before the file, so that vloc recognizes the file as its own after a crash, and again after it. */
export interface StageSubtitleRecord {
  readonly type: 'stage_subtitle';
  /** RFC 3339. */
  readonly at: string;
  /** Name of the video below its root. */
  readonly video: string;
  /** `source`: in the spoken language; `target`: the translation. */
  readonly role: 'source' | 'target';
  /** BCP 47 tag; `und` if unknown. */
  readonly language: string;
  /** Relative to the output folder. */
  readonly path: string;
  /** Digest of the bytes of the file, lower-case hex. */
  readonly sha256: string;
  /** Whether the file has replaced an earlier one. */
  readonly is_placed?: boolean;
}

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
export interface WrittenSubtitle extends Pick<StageSubtitleRecord, 'video' | 'role' | 'language' | 'path'> {
  /** Digests of what vloc wrote there. A file with another digest was edited. */
  readonly digests: ReadonlySet<string>;
}

/** A finished video, from all its records. */
interface FinishedFile {
  readonly newest: FinishedVideo;
  /** Sizes of all versions that were written there, in bytes. */
  readonly sizes: ReadonlySet<number>;
}

export interface StageRecords {
  /** By path relative to the output folder. */
  readonly subtitles: ReadonlyMap<string, WrittenSubtitle>;
  /** By key of the item. */
  readonly finished: ReadonlyMap<string, FinishedFile>;
}
