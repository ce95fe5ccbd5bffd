/** What the page of a batch is built from: jobs as the journal knows them, and hands that reach the files. */
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { ReportJob, ReportSubtitle } from './page-facts.ts';
import type { Loudness } from './speech-fit.ts';

export interface PageJob extends ReportJob {
  /** The input below its root, or its address, or the id of its upload. */
  readonly input_name: string;
  /** Absolute; null for an input that is no file of this machine. */
  readonly input_path: string | null;
  readonly target_language: string | null;
  /** Subtitles that belong to it beside what it has read and written. */
  readonly subtitles: readonly PageSubtitle[];
  readonly files: readonly ResultFile[];
}

export interface ResultFile {
  /** Name of the part of the result, such as `video`. */
  readonly asset: string;
  /** Absolute. */
  readonly path: string;
  readonly bytes: number | null;
  readonly sha256: string | null;
}

/** A subtitle file on this machine, of any format. */
export interface PageSubtitle {
  readonly role: ReportSubtitle['role'];
  readonly language: string | null;
  /** Absolute. */
  readonly path: string;
  /** Of the lines that the video speaks, see `digestLines`; null where nobody knows. */
  readonly spoken: string | null;
}

export interface PageSource {
  readonly title: string;
  readonly tool: string;
  readonly madeAt: string;
  /** Absolute: where the page will lie, since it points at files from there. */
  readonly pageFolder: string;
  readonly jobs: readonly PageJob[];
}

export interface Sound {
  readonly durationMs: number;
  /** 0 to 255. */
  readonly peaks: Uint8Array;
  readonly loudness: Loudness;
}

/** The media work, handed in. Each may throw for a file that cannot be read; the page then shows it without its content. */
export interface MediaReaders {
  readonly outlineSound: (path: string) => Promise<Sound>;
  /** Lines of a subtitle file, whatever its format. */
  readonly readSubtitleFile: (path: string) => Promise<readonly SubtitleLine[]>;
  /** Subtitles inside a video; none when there are none. */
  readonly readSoftSubtitles: (path: string) => Promise<readonly SubtitleLine[]>;
}
