/** Records of a localization in stages besides its jobs: subtitles written for users to edit, and finished videos. */
import * as v from 'valibot';
import { readRecord } from '../records/read-record.ts';
import type { LogRecord } from '../records/record-line.ts';

const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const at = v.pipe(v.string(), v.isoTimestamp());

/** Written before the file, so that vloc recognizes the file as its own after a crash, and again after it. */
const subtitleRecord = v.object({
  type: v.literal('stage_subtitle'),
  /** RFC 3339. */
  at,
  /** Name of the video below its root. */
  video: v.string(),
  /** `source`: in the spoken language; `target`: the translation. */
  role: v.picklist(['source', 'target']),
  /** BCP 47 tag; `und` if unknown. */
  language: v.string(),
  /** Relative to the output folder. */
  path: v.string(),
  /** Of the bytes of the file. */
  sha256,
  /** Whether the file has replaced an earlier one. Journals of earlier versions do not say. */
  is_placed: v.optional(v.boolean(), false),
});

const finishedVideo = v.object({
  type: v.literal('stage_export'),
  at,
  /** Key of the item. */
  item: v.string(),
  /** Relative to the output folder. */
  path: v.string(),
  /** Bytes. */
  size: v.number(),
  sha256,
  /** Digest of everything that it was made from. */
  made_of: v.string(),
  /** The source subtitles and the translation, relative to the output folder; null if they were not needed. */
  source: v.optional(v.nullable(v.string()), null),
  target: v.optional(v.nullable(v.string()), null),
  /** Digest of the translated lines, as their file kept them; null if they were not needed. */
  target_lines: v.optional(v.nullable(sha256), null),
});

export type StageSubtitleRecord = v.InferOutput<typeof subtitleRecord>;
export type FinishedVideo = v.InferOutput<typeof finishedVideo>;

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

/** Extracts the stage records from a log. */
export function foldStageRecords(records: readonly LogRecord[]): StageRecords {
  const subtitles = new Map<string, WrittenSubtitle>();
  const finished = new Map<string, FinishedFile>();
  for (const record of records) {
    const subtitle = readRecord(subtitleRecord, record);
    if (subtitle !== null) subtitles.set(subtitle.path, addDigest(subtitles.get(subtitle.path), subtitle));
    const video = readRecord(finishedVideo, record);
    if (video === null) continue;
    const sizes = new Set([...(finished.get(video.item)?.sizes ?? []), video.size]);
    finished.set(video.item, { newest: video, sizes });
  }
  return { subtitles, finished };
}

function addDigest(known: WrittenSubtitle | undefined, record: StageSubtitleRecord): WrittenSubtitle {
  const { video, role, language, path } = record;
  // After a replacement only the user can bring an earlier version back. Before it, a killed run may have left one.
  const before = record.is_placed ? [] : (known?.digests ?? []);
  return { video, role, language, path, digests: new Set([...before, record.sha256]) };
}
