/** The parts of an item as items: each has its own intent, slot, job and result. */
import { hash } from 'node:crypto';
import type { BatchItem } from '../item.ts';
import { trackOf } from '../plan/facts.ts';
import type { LinesPart } from '../plan/input.ts';
import { digestMaking, partKey } from '../plan/item-key.ts';
import { fileUnits, unitsOf } from '../plan/items.ts';
import type { JoinTask } from '../preparation.ts';
import type { PreparedSource } from './preparations.ts';

/** An item that was cut into parts. */
export interface SplitItem {
  /** See `digestMaking`. */
  readonly made: string;
  readonly items: readonly BatchItem[];
  /** Information for joining. */
  readonly whole: JoinTask['whole'];
  /** SHA-256 of the whole input, lower-case hex. */
  readonly sha256: string;
}

/** The parts of a video, as they were cut. */
export function partsOfVideo(item: BatchItem, source: PreparedSource): SplitItem {
  const { sha256, files, split } = source;
  const made = digestMaking([sha256, item.optionsDigest, trackOf(item), split]);
  const items = files.map(({ path, bytes, seconds }, place) => {
    const named = namePart(item, place + 1, files.length, made);
    const input = {
      ...named.input,
      type: 'file',
      path,
      bytes,
      mtimeMs: 0,
      contentType: 'video/mp4',
      seconds,
      preparation: null,
    } as const;
    return { ...named.item, input, units: fileUnits(item.kind, seconds) };
  });
  return { made, items, whole: { type: 'video', split }, sha256 };
}

/** The parts of subtitles. */
export function partsOfLines(item: BatchItem, parts: readonly LinesPart[], sha256: string): SplitItem {
  const offsetsMs = parts.map(({ offsetMs }) => offsetMs);
  const made = digestMaking([sha256, item.optionsDigest, offsetsMs]);
  const items = parts.map(({ lines }, place) => {
    const named = namePart(item, place + 1, parts.length, made);
    const own = hash('sha256', JSON.stringify(lines));
    const input = { ...named.input, type: 'lines', lines, sha256: own, file: null, parts: null } as const;
    return { ...named.item, input, units: unitsOf(item.kind, input) };
  });
  const last = parts.at(-1);
  const endMs = (last?.offsetMs ?? 0) + Math.max(0, ...(last?.lines ?? []).map(({ end_ms }) => end_ms));
  return { made, items, whole: { type: 'lines', offsetsMs, endMs }, sha256 };
}

function namePart(item: BatchItem, number: number, count: number, made: string) {
  const place = `part ${number} of ${count}`;
  return {
    item: {
      ...item,
      key: partKey(item.key, { part: number, of: count, made }),
      label: `${item.label} (${place})`,
      folder: '',
      // They are added to the joined video.
      keep: undefined,
      part: { of: item, number, count },
    },
    input: {
      label: `${item.input.label} (${place})`,
      stem: `part${number}of${count}`,
      name: item.input.name,
    },
  };
}
