/** The JSON document of the HTML report: everything that the page shows, as plain data. */
import type { JobKind } from '../../protocol/kind-names.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { ItemCue, ItemProvenance } from '../item-provenance.ts';
import type { AttentionPlace } from './attention.ts';
import type { ItemCosts } from './costs.ts';

export interface ReportFacts {
  /** Name of the folder of results. */
  readonly title: string;
  /** RFC 3339. */
  readonly made_at: string;
  /** Notices that the licences of the models demand that made the results. */
  readonly attributions: readonly string[];
  /** What all jobs have cost so far, in words; null if nothing was charged. */
  readonly cost: string | null;
  /** In the order of the batch. */
  readonly entries: readonly ReportEntry[];
  /** The cues that need a person, the most reasons first. */
  readonly places: readonly ReportPlace[];
  /** Subtitle files of places and entries. */
  readonly files: readonly ReportTextFile[];
  /** The folder in which their commands are run, relative to the page; null for a page that shows none. */
  readonly run_in: string | null;
}

export interface ReportPlace
  extends Pick<AttentionPlace, 'row' | 'cue' | 'start_ms' | 'source' | 'text' | 'reasons'> {
  /** Name of the item. */
  readonly item: string;
  /** Index of the file; null if the service kept the text to itself. */
  readonly file: number | null;
  /** Null if the page cannot edit it. */
  readonly edit: CuePlace | null;
}

/** Where a cue is in its file. */
export interface CuePlace {
  /** Row of its times, from 1. */
  readonly row: number;
  /** Rows of its text, which follow. */
  readonly rows: number;
}

export interface ReportTextFile {
  /** Relative to the page, `/` between folders. */
  readonly path: string;
  readonly language: string | null;
  /** Id of the entry that shows it; null for none. */
  readonly entry: string | null;
  /** With its byte order mark; null for a file that the page cannot edit. Only an edit needs it. */
  readonly text: string | null;
  /** The command after an edit; null if it is not known. */
  readonly command: string | null;
}

/** One input in one language, with its results; those with other options are another entry. */
export interface ReportEntry {
  /** `e1`, `e2`…: its fragment in the address of the page. */
  readonly id: string;
  /** Path of the input below its root, its address, or the id of its upload. */
  readonly name: string;
  readonly language: string | null;
  /** Its options or its file, if the input has several results in the language; null for the only one. */
  readonly variant: string | null;
  readonly state: EntryState;
  readonly jobs: readonly ReportJob[];
  /** Duration of its longest track or subtitle; null if there is none on this machine. */
  readonly duration_ms: number | null;
  /** Number of lines whose speech does not fit; null if unknown. */
  readonly misfits: number | null;
  /** Which cues are cut off at their end, in words; null if none is, or if unknown. */
  readonly cuts: string | null;
  /** Terms that the translation has lost, with their places, in words. */
  readonly losses: readonly string[];
  /** Data that only the opened entry needs: most of the document. */
  readonly detail: EntryDetail;
}

/** `failed`: a job failed. `unfinished`: a job is still running, or was left when the run stopped. */
export const ENTRY_STATES = ['failed', 'unfinished', 'done'] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

export interface ReportJob extends ItemCosts {
  readonly kind: JobKind;
  readonly state: EntryState;
  /** Ids of the requests that created it or were refused, newest last. */
  readonly request_ids: readonly string[];
  readonly client_reference: string | null;
  /** Options of the request besides source and language. */
  readonly options: Readonly<Record<string, string | number | boolean>>;
  /** RFC 3339. */
  readonly created_at: string | null;
  readonly finished_at: string | null;
  readonly failure: ReportFailure | null;
  /** Why it is not finished, as text; null if it is finished. */
  readonly waits_for: string | null;
  /** Empty if the service did not name them. */
  readonly engines: ItemProvenance['engines'];
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
  /** Cues that were made to fit, according to the service. */
  readonly cues: readonly ItemCue[];
}

/** In display order. */
export const TRACK_ROLES = ['original', 'localized', 'voice', 'background', 'dub'] as const;
export type TrackRole = (typeof TRACK_ROLES)[number];

export interface ReportTrack {
  readonly role: TrackRole;
  readonly media: 'video' | 'audio';
  readonly file: ReportFile;
  /** Null if it could not be decoded. `peaks` are Base64 bytes, one for each interval of equal length. */
  readonly sound: { readonly duration_ms: number; readonly peaks: string } | null;
}

export interface ReportFile {
  /** The path relative to the page, each part percent-encoded; starts with `./` or `file:///`. */
  readonly href: string;
  readonly name: string;
  readonly bytes: number | null;
  readonly sha256: string | null;
  /** False if the file is missing. */
  readonly present: boolean;
  /** A problem such as a missing or changed file; null for none. */
  readonly problem: string | null;
}

export interface ReportSubtitle {
  readonly role: 'original' | 'translated';
  readonly language: string | null;
  /** Null for subtitles from a video. */
  readonly file: ReportFile | null;
  readonly lines: readonly SubtitleLine[];
  /** Index of the file, and the place of each line, null for one that the page cannot edit; null without a file. */
  readonly edit: { readonly file: number; readonly places: readonly (CuePlace | null)[] } | null;
  /** True if the text was changed after the video was made. */
  readonly is_unspoken: boolean;
}

/** How the speech of a track fits its lines. */
export type ReportFit =
  | { readonly measured_on: TrackRole; readonly lines: readonly LineFit[] }
  | { readonly measured_on: null; readonly reason: string };

export interface LineFit {
  /** Index of the subtitle line. */
  readonly index: number;
  readonly slot_start_ms: number;
  readonly slot_end_ms: number;
  /** From the first to the last sound of speech; null for silence; `unclear` if other sounds are as loud. */
  readonly speech: { readonly start_ms: number; readonly end_ms: number } | 'unclear' | null;
}
