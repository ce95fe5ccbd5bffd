/** The parts of an item: what each of its jobs gets, with a key of its own. Pure. */
import { hash } from 'node:crypto';
import { join, relative } from 'node:path';
import type { FileInput, LinesPart } from '../input.ts';
import { fileUnits, unitsOf } from '../inputs/items.ts';
import { digestOptions } from '../inputs/requests.ts';
import type { BatchItem } from '../item.ts';
import { trackOf } from '../records/item-facts.ts';
import { digestLinesMaking, digestMaking, partKey } from '../records/item-key.ts';
import { type BatchPlace, recordFolder } from '../records/record-folder.ts';
import { shortDigest } from '../short-digest.ts';
import type { PreparedSource } from './preparations.ts';

export interface Parts {
  /** See `digestMaking`. */
  readonly made: string;
  readonly items: readonly BatchItem[];
  /** SHA-256 of the input of the whole, lower-case hex. */
  readonly sha256: string;
}

/** A video that was cut. */
export interface CutVideo extends Pick<PreparedSource, 'sha256' | 'files' | 'split' | 'ensure'> {
  /** The file at a place was sent, or is not needed. When all are, the files are deleted. */
  use(place: number): void;
}

/** The private folder of the parts of an item. Two items may have the same bytes, so their keys are in its name. */
export function partsFolder(place: BatchPlace, item: BatchItem, made: string): string {
  return join(recordFolder(place), 'parts', `${made}-${shortDigest(item.key)}`);
}

/** The parts of a video, as they were cut. */
export function partsOfVideo(place: BatchPlace, item: BatchItem, cut: CutVideo): Parts {
  const { sha256, files, split } = cut;
  const made = digestMaking([sha256, item.optionsDigest, trackOf(item), split]);
  const items = files.map((file, at) => {
    const named = namePart(place, item, { number: at + 1, count: files.length, sha256 }, made);
    const input: FileInput = {
      ...named.input,
      type: 'file',
      path: file.path,
      bytes: file.bytes,
      mtimeMs: 0,
      contentType: 'video/mp4',
      seconds: file.seconds,
      preparation: null,
      made: { sha256: file.sha256, ensure: () => cut.ensure(at), use: () => cut.use(at) },
    };
    return { ...named.item, input, units: fileUnits(item.kind, file.seconds) };
  });
  return { made, items, sha256 };
}

/** The parts of subtitles. @param source digest of what the parts are made of, lower-case hex */
export function partsOfLines(
  place: BatchPlace,
  item: BatchItem,
  parts: readonly LinesPart[],
  { source, sha256 }: { readonly source: string; readonly sha256: string },
): Parts {
  const made = digestLinesMaking(
    source,
    item,
    parts.map(({ offsetMs }) => offsetMs),
  );
  const items = parts.map(({ lines, voice }, at) => {
    const named = namePart(place, item, { number: at + 1, count: parts.length, sha256 }, made);
    const own = hash('sha256', JSON.stringify(lines));
    const input = { ...named.input, type: 'lines', lines, sha256: own, file: null, parts: null } as const;
    return { ...withVoice(named.item, voice), input, units: unitsOf(item.kind, input) };
  });
  return { made, items, sha256 };
}

/** The part with the voice of its lines in its request. */
function withVoice(item: PartItem, voice: LinesPart['voice']): PartItem {
  if (voice === undefined) return item;
  const { voices: _, ...rest } = item.fields;
  const fields = voice.mode === null ? rest : { ...rest, voice_mode: voice.mode };
  const part = { ...item.part, speaker: voice.speaker };
  return { ...item, part, fields, optionsDigest: digestOptions(item.kind, fields) };
}

type PartItem = BatchItem & { readonly part: NonNullable<BatchItem['part']> };

function namePart(
  place: BatchPlace,
  item: BatchItem,
  part: Omit<PartItem['part'], 'of' | 'speaker'>,
  made: string,
) {
  const { number, count } = part;
  const which = `part ${number} of ${count}`;
  const own: PartItem = {
    ...item,
    key: partKey(item.key, { part: number, of: count, made }),
    label: `${item.label} (${which})`,
    folder: join(relative(place.folder, partsFolder(place, item, made)), 'results'),
    // The whole gets them.
    keep: undefined,
    look: undefined,
    sound: undefined,
    isInner: true,
    part: { ...part, of: item },
  };
  return {
    item: own,
    input: {
      label: `${item.input.label} (${which})`,
      stem: `part${number}of${count}`,
      name: item.input.name,
    },
  };
}
