/** Facts that the journal records about each item besides its jobs, so that a later run can detect changes. */
import type { JobKind } from '../../protocol/kind-names.ts';
import type { BatchItem } from '../item.ts';
import { withoutSecrets } from './secrets.ts';

/** The audio track that a service uses if a video is sent as it is. */
const FIRST_TRACK = 1;

export interface ItemFacts {
  readonly type: 'item_facts';
  /** Key of the item. */
  readonly item: string;
  readonly label: string;
  readonly kind: JobKind;
  /** Absolute; null for anything but a file. */
  readonly path: string | null;
  /** Bytes. */
  readonly size: number | null;
  readonly mtime_ms: number | null;
  /** Number of the audio track that is used, from 1. */
  readonly audio_track: number;
  /** Longest length of the sample that is sent, in seconds; missing for the whole input. */
  readonly sample_seconds?: number | undefined;
  /** Digest of the input, lower-case hex; null until all of it has been read. */
  readonly sha256: string | null;
  /** The request without its source, addresses without their query. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The record of an item, written before its attempt. @param hashed SHA-256 of the input, if the upload computed it */
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
    sample_seconds: sampleOf(item) ?? undefined,
    sha256: input.type === 'lines' ? input.sha256 : hashed,
    fields: withoutSecrets(item.fields),
  };
}

/** Longest length of the sample that an item sends, in seconds; null for the whole input. */
export function sampleOf({ input }: Pick<BatchItem, 'input'>): number | null {
  return input.type === 'file' ? (input.sample?.seconds ?? null) : null;
}

/** Number of the audio track of an item, from 1. */
export function trackOf({ input }: Pick<BatchItem, 'input'>): number {
  return input.type === 'file' ? (input.preparation?.track ?? FIRST_TRACK) : FIRST_TRACK;
}
