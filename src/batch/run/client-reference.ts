/** References that jobs carry, so that a lost journal can be rebuilt from the job lists of the service. */
import { hash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { LIMITS } from '../../protocol/limits.ts';
import type { BatchItem } from '../item.ts';
import type { Attempts } from '../records/attempts.ts';
import { sampleOf, trackOf } from '../records/item-facts.ts';
import { findDoubt } from '../records/lost-jobs.ts';
import type { BatchPlace } from '../records/record-folder.ts';
import { writeShard } from '../records/shard.ts';
import { decoded } from '../result-name.ts';
import type { BatchJournal } from './journal.ts';

/** 40 bits: no key has so many folders that two of them collide. */
const BATCH_LENGTH = 10;
/** 64 bits, for up to millions of items. */
const ITEM_LENGTH = 16;

interface ClientReference {
  readonly batch: string;
  readonly item: string;
  /** For the names of results on machines without records; null in references of earlier versions, and for long names. */
  readonly name: { readonly stem: string; readonly language: string | null } | null;
}

/** The name of a folder, and whether all its jobs certainly carry it. */
export interface BatchName {
  readonly batch: string;
  readonly isCertain: boolean;
}

/**
 * Names a folder of results by its real path. Each shard has a name of its own: a shard whose journal is lost must not find
 * the jobs of another one that works at the same time.
 */
export async function batchReference({ folder, shard }: BatchPlace): Promise<string> {
  const path = await realpath(folder);
  const named = shard === undefined ? path : `${path}\0${writeShard(shard)}`;
  return hash('sha256', named).slice(0, BATCH_LENGTH);
}

/**
 * The name of a folder. The first run chooses and records it, so that it stays the same if the folder is moved.
 * @throws Failure (`disk`)
 */
export async function nameBatch(
  journal: Pick<BatchJournal, 'name' | 'damages' | 'attempts' | 'add'>,
  place: BatchPlace,
): Promise<BatchName> {
  const { name } = journal;
  if (name !== null) return { batch: name.batch, isCertain: name.is_certain };
  const carried = findCarried(journal.attempts);
  const batch = carried ?? (await batchReference(place));
  const isCertain = carried !== null || findDoubt(journal, null) === null;
  await journal.add({ type: 'batch_name', batch, is_certain: isCertain });
  return { batch, isCertain };
}

/** The name that an earlier request carried. */
function findCarried({ byKey }: Attempts): string | null {
  for (const { request } of byKey.values()) {
    const reference = request.client_reference;
    const read = typeof reference === 'string' ? readReference(reference) : null;
    if (read !== null) return read.batch;
  }
  return null;
}

/**
 * Names a request: the same bytes with the same options have the same reference, wherever the file is.
 * @param content SHA-256 of the input, lower-case hex; null for an input without content on this machine
 */
export function itemReference(item: BatchItem, content: string | null): string {
  const source = content ?? nameOf(item);
  const track = trackOf(item);
  const sample = sampleOf(item);
  const parts = [
    ...[item.kind, source, item.targetLanguage, item.optionsDigest, ...(track > 1 ? [track] : [])],
    ...(sample === null ? [] : [`sample ${sample}`]),
  ];
  return hash('sha256', JSON.stringify(parts)).slice(0, ITEM_LENGTH);
}

function nameOf({ input }: BatchItem): string {
  switch (input.type) {
    case 'url':
      return input.url;
    case 'upload':
      return input.id;
    case 'job':
      return input.reference;
    case 'lines':
      return input.sha256;
    case 'file':
    case 'unusable':
      return input.name;
  }
}

/** The value of `client_reference`: `vloc:BATCH:ITEM:LANGUAGE:STEM` in ASCII, the last two only as far as there is space. */
export function writeReference({ batch, item, name }: ClientReference): string {
  const short = `vloc:${batch}:${item}`;
  if (name === null) return short;
  const whole = [short, name.language ?? '', name.stem]
    .map((part, at) => (at === 0 ? part : encodeURIComponent(part.toWellFormed())))
    .join(':');
  return whole.length > LIMITS.clientReferenceLength ? short : whole;
}

const REFERENCE = new RegExp(
  `^vloc:([0-9a-f]{${BATCH_LENGTH}}):([0-9a-f]{${ITEM_LENGTH}})(?::([^:]*):([^:]+))?$`,
);

/** Null for a reference that vloc did not make. */
export function readReference(text: string | null): ClientReference | null {
  const [, batch, item, language = '', stem] = REFERENCE.exec(text ?? '') ?? [];
  if (batch === undefined || item === undefined) return null;
  if (stem === undefined) return { batch, item, name: null };
  return { batch, item, name: { stem: decoded(stem), language: decoded(language) || null } };
}
