/** The JSON document that the page of a batch is made from: plain data, everything that the page shows. */
import type { JobKind } from '../../protocol/kind-names.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';

/** Changes with the shape of the document, so that a script can tell. */
export const REPORT_FORMAT = 'vloc-report/1';

export interface ReportFacts {
  readonly format: typeof REPORT_FORMAT;
  /** For people: the name of the folder of results. */
  readonly title: string;
  /** Name and version of the program that made it. */
  readonly tool: string;
  /** RFC 3339. */
  readonly made_at: string;
  /** Of all jobs that were charged so far; null when the cost of one is not known. */
  readonly charged_credits: number | null;
  /** In the order of the batch. */
  readonly entries: readonly ReportEntry[];
}

/** One input in one language, with everything that was made of it. */
export interface ReportEntry {
  /** `e1`, `e2`…: the fragment of its address in the page. */
  readonly id: string;
  /** The input below its root, or its address, or the id of its upload. */
  readonly name: string;
  readonly language: string | null;
  readonly state: EntryState;
  readonly jobs: readonly ReportJob[];
  /** Milliseconds of its longest track or subtitle; null when nothing of it is here. */
  readonly duration_ms: number | null;
  /** Lines whose speech does not fit; null when that is unknown. */
  readonly misfits: number | null;
  /** What only the opened entry needs; the greater part of the document. */
  readonly detail: EntryDetail;
}

/** `failed`: a job failed. `unfinished`: something is still to come, or was left when the run stopped. */
export const ENTRY_STATES = ['failed', 'unfinished', 'done'] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

export interface ReportJob {
  readonly kind: JobKind;
  readonly state: EntryState;
  /** Null when it was never accepted. */
  readonly job_id: string | null;
  /** Of the requests that made it or were refused; the newest last. */
  readonly request_ids: readonly string[];
  readonly client_reference: string | null;
  /** What was asked beyond source and language. */
  readonly options: Readonly<Record<string, string | number | boolean>>;
  /** Null when the service has told nothing yet. */
  readonly credits: { readonly reserved: number; readonly charged: number } | null;
  /** RFC 3339. */
  readonly created_at: string | null;
  readonly finished_at: string | null;
  readonly failure: ReportFailure | null;
  /** Why it is not finished, in words; null for one that is. */
  readonly waits_for: string | null;
}

export interface ReportFailure {
  readonly code: string;
  readonly message: string;
  readonly advice: string | null;
  readonly retryable: boolean;
}

export interface EntryDetail {
  readonly tracks: readonly ReportTrack[];
  readonly subtitles: readonly ReportSubtitle[];
  readonly fit: ReportFit;
}

/** In the order in which they are shown. */
export const TRACK_ROLES = ['original', 'localized', 'voice', 'background', 'dub'] as const;
export type TrackRole = (typeof TRACK_ROLES)[number];

export interface ReportTrack {
  readonly role: TrackRole;
  readonly media: 'video' | 'audio';
  readonly file: ReportFile;
  /** Null when it could not be listened to; `peaks` are bytes in Base64, of equal stretches. */
  readonly sound: { readonly duration_ms: number; readonly peaks: string } | null;
}

export interface ReportFile {
  /** The path from the page, each part percent-encoded; always below `./`, `../` or `file:///`. */
  readonly href: string;
  readonly name: string;
  readonly bytes: number | null;
  readonly sha256: string | null;
  /** False when it is not where it was: it cannot be shown. */
  readonly present: boolean;
  /** What to know about it, such as that it is gone or was changed since; null when all is well. */
  readonly problem: string | null;
}

export interface ReportSubtitle {
  readonly role: 'original' | 'translated';
  readonly language: string | null;
  /** Null for subtitles that came out of a video. */
  readonly file: ReportFile | null;
  readonly lines: readonly SubtitleLine[];
  /** True for a text that is not the one that the video speaks: it was changed since. */
  readonly is_unspoken: boolean;
}

/** How the speech of a track fits the lines that it speaks. */
export type ReportFit =
  | { readonly measured_on: TrackRole; readonly lines: readonly LineFit[] }
  | { readonly measured_on: null; readonly reason: string };

export interface LineFit {
  /** Of the subtitle line. */
  readonly index: number;
  readonly slot_start_ms: number;
  readonly slot_end_ms: number;
  /** The stretch in which speech is heard, from its first to its last sound; null for silence. */
  readonly speech: { readonly start_ms: number; readonly end_ms: number } | null;
}
