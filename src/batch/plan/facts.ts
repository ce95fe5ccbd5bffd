/** What the journal records about each item besides its jobs, so that a later run can see what has changed. */
import * as v from 'valibot';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import type { BatchItem } from '../item.ts';
import { readRecord } from '../records/read-record.ts';
import type { LogRecord } from '../records/record-line.ts';
import { withoutSecrets } from '../records/record-line.ts';

const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

/** The audio track that a service uses if a video is sent as it is. */
const FIRST_TRACK = 1;

const itemFacts = v.object({
  type: v.literal('item_facts'),
  /** Key of the item. */
  item: v.string(),
  label: v.string(),
  kind: v.picklist(JOB_KIND_NAMES),
  /** Absolute; null for anything but a file. */
  path: v.nullable(v.string()),
  /** Bytes. */
  size: v.nullable(v.number()),
  mtime_ms: v.nullable(v.number()),
  /** Number of the audio track that is used, from 1. */
  audio_track: v.optional(v.number(), FIRST_TRACK),
  /** Of the input; null until all of it has been read. */
  sha256: v.nullable(sha256),
  options_digest: v.string(),
  /** The request without its source, addresses without their query. */
  fields: v.record(v.string(), v.unknown()),
});

export type ItemFacts = v.InferOutput<typeof itemFacts>;

/** The record of an item, written before its intent. @param hashed SHA-256 of the input, if the upload computed it */
export function createItemFacts(item: BatchItem, hashed: string | null = null): ItemFacts {
  const { input } = item;
  const file = input.type === 'file' ? input : input.type === 'lines' ? input.file : null;
  return {
    type: 'item_facts',
    item: item.key,
    label: item.label,
    kind: item.kind,
    path: file?.path ?? null,
    size: file?.bytes ?? null,
    mtime_ms: file?.mtimeMs ?? null,
    audio_track: trackOf(item),
    sha256: input.type === 'lines' ? input.sha256 : hashed,
    options_digest: item.optionsDigest,
    fields: withoutSecrets(item.fields),
  };
}

/** Number of the audio track of an item, from 1. */
export function trackOf({ input }: Pick<BatchItem, 'input'>): number {
  return input.type === 'file' ? (input.preparation?.track ?? FIRST_TRACK) : FIRST_TRACK;
}

/** Reads one record of a log; null for one of another type. */
export function parseItemFacts(record: LogRecord): ItemFacts | null {
  return readRecord(itemFacts, record);
}

/** The newest facts of each item, by its key. */
export function foldItemFacts(records: readonly LogRecord[]): ReadonlyMap<string, ItemFacts> {
  const facts = records.flatMap((record) => parseItemFacts(record) ?? []);
  return new Map(facts.map((each) => [each.item, each]));
}
