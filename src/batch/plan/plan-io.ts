import type { Readable } from 'node:stream';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { ExaminedLines, ExaminedVideo } from '../preparation.ts';
import type { SubtitleRewrite } from './delivery.ts';

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
