/** What the journal keeps of a localization in stages beside its jobs: subtitles left for people, and finished videos. */
import * as v from 'valibot';
import { readRecord } from '../../journal/read-record.ts';
import type { LogRecord } from '../../journal/record-line.ts';

const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const at = v.pipe(v.string(), v.isoTimestamp());

/** Written before the file is, so that a file of these bytes is never taken for somebody else's, and once more behind it. */
const leftSubtitle = v.object({
  type: v.literal('stage_subtitle'),
  /** RFC 3339. */
  at,
  /** Name of the video below its root. */
  video: v.string(),
  /** `source`: what is said in the video; `target`: its translation. */
  role: v.picklist(['source', 'target']),
  /** BCP 47 tag; `und` where nobody has told. */
  language: v.string(),
  /** From the folder of results. */
  path: v.string(),
  /** Of its bytes. */
  sha256,
  /** Whether the file is there; before that, and in journals of earlier versions, what it replaces may still be. */
  is_placed: v.optional(v.boolean(), false),
});

const finishedVideo = v.object({
  type: v.literal('stage_export'),
  at,
  /** Key of the item. */
  item: v.string(),
  /** From the folder of results. */
  path: v.string(),
  /** Bytes. */
  size: v.number(),
  sha256,
  /** Digest of all that it was made of. */
  made_of: v.string(),
  /** Subtitles of what is said, and those that are spoken, from the folder of results; null where nobody needed them. */
  source: v.optional(v.nullable(v.string()), null),
  target: v.optional(v.nullable(v.string()), null),
  /** Digest of the lines that are spoken, as their file kept them; null where nobody needed them. */
  target_lines: v.optional(v.nullable(sha256), null),
});

export type LeftSubtitle = v.InferOutput<typeof leftSubtitle>;
export type FinishedVideo = v.InferOutput<typeof finishedVideo>;

/** A subtitle file that was left for people, however often it was written. */
export interface LeftFile extends Pick<LeftSubtitle, 'video' | 'role' | 'language' | 'path'> {
  /** Of what may be there when nobody has touched it: bytes with another digest are somebody's own. */
  readonly digests: ReadonlySet<string>;
}

/** A finished video, however often it was made. */
interface FinishedFile {
  readonly newest: FinishedVideo;
  /** In bytes, of all that were ever written there. */
  readonly sizes: ReadonlySet<number>;
}

export interface StageRecords {
  /** By path from the folder of results. */
  readonly left: ReadonlyMap<string, LeftFile>;
  /** By key of the item. */
  readonly finished: ReadonlyMap<string, FinishedFile>;
}

/** Reads what is of stages out of all records of a log. */
export function foldStageRecords(records: readonly LogRecord[]): StageRecords {
  const left = new Map<string, LeftFile>();
  const finished = new Map<string, FinishedFile>();
  for (const record of records) {
    const subtitle = readRecord(leftSubtitle, record);
    if (subtitle !== null) left.set(subtitle.path, addDigest(left.get(subtitle.path), subtitle));
    const video = readRecord(finishedVideo, record);
    if (video === null) continue;
    const sizes = new Set([...(finished.get(video.item)?.sizes ?? []), video.size]);
    finished.set(video.item, { newest: video, sizes });
  }
  return { left, finished };
}

function addDigest(known: LeftFile | undefined, record: LeftSubtitle): LeftFile {
  const { video, role, language, path } = record;
  // An earlier version that is there again was put back by somebody, but for one that a killed run has not replaced.
  const before = record.is_placed ? [] : (known?.digests ?? []);
  return { video, role, language, path, digests: new Set([...before, record.sha256]) };
}
