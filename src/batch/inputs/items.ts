/** Makes items from inputs and requests, with their order and units. */
import { hash } from 'node:crypto';
import { VOICE_MODE } from '../../protocol/fields.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { countCharacters, quantityOf } from '../../protocol/metering.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { Units } from '../bill.ts';
import { type InputProblem, isCopied, type JobInput } from '../input.ts';
import type { BatchItem, KeptResult, ResultMark } from '../item.ts';
import { trackOf } from '../records/item-facts.ts';
import { isSampleKey, itemKey, SAMPLE_SUFFIX } from '../records/item-key.ts';
import { resultFolder } from '../result-name.ts';
import { findTerms, sayNames, type Term, type Terms } from '../terms.ts';
import { byName } from './candidate.ts';
import { digestOptions, type PlannedRequest } from './requests.ts';

/** @param terms those of --terms, whose names a dub speaks in other words; missing without */
export function createItem(
  kind: JobKind,
  given: JobInput,
  { targetLanguage, fields: asked }: PlannedRequest,
  template: string | null = null,
  terms?: Terms,
): BatchItem {
  const input = kind === 'dubbing' ? speakInput(given, terms?.said(targetLanguage ?? '') ?? []) : given;
  // The requests of the parts have a voice each. The record has all of them, so that another one is noticed.
  const voices = input.type === 'lines' ? input.voices : undefined;
  const fields = voices === undefined ? asked : { ...asked, voices };
  const label = targetLanguage === null ? input.label : `${input.label} → ${targetLanguage}`;
  const key = itemKey(kind, input.name, targetLanguage, template);
  return {
    key,
    label: isSampleKey(key) ? `${label}${SAMPLE_SUFFIX}` : label,
    kind,
    input,
    targetLanguage,
    fields,
    optionsDigest: digestOptions(kind, fields),
    folder: fileOf(input) === null ? '' : resultFolder(input.name),
    units: unitsOf(kind, input),
  };
}

/** Subtitles as their dub speaks them. With other words for a name they are other subtitles. */
function speakInput(input: JobInput, names: readonly Term[]): JobInput {
  if (input.type !== 'lines') return input;
  const lines = sayNames(names, input.lines);
  if (lines === input.lines) return input;
  const parts = input.parts?.map((part) => ({ ...part, lines: sayNames(names, part.lines) })) ?? null;
  const said = findTerms(names)(input.lines.map(({ text }) => text).join('\n'));
  return { ...input, lines, parts, said, sha256: hash('sha256', JSON.stringify([input.sha256, lines])) };
}

/** What this machine does to the result of an item; undefined for nothing. */
export function keptResult(item: BatchItem): KeptResult | undefined {
  const { look, sound, targetLanguage } = item;
  const added = addedTracks(item);
  const language = targetLanguage ?? 'und';
  const burned = look === undefined ? undefined : { look, language };
  const isChanged = [added, burned, sound, item.mark].some((change) => change !== undefined);
  const alone = sound === undefined ? {} : { sound: { ...sound, language } };
  return isChanged ? { ...added, burned, ...alone, mark: markOf(item) } : undefined;
}

/** What a tag says of the finished video of an item, if this machine writes one. */
export function markOf({ fields, targetLanguage, mark, gathers }: BatchItem): ResultMark {
  const isSpoken = fields.mode !== 'subtitles_only';
  const to = (gathers ?? [{ targetLanguage }]).map((each) => each.targetLanguage ?? 'und');
  return { isWanted: mark ?? null, isSpoken, from: statedLanguage(fields), to };
}

function statedLanguage({ source_language: stated }: BatchItem['fields']): string | null {
  return typeof stated === 'string' && stated !== 'auto' ? stated : null;
}

function addedTracks({ input, keep, sound, fields, startsWithOriginal: isFirst = false }: BatchItem) {
  if (input.type !== 'file') return undefined;
  const isTagged = sound !== undefined && input.sound !== undefined;
  if (keep === undefined && !isTagged) return undefined;
  const { path, bytes, mtimeMs } = input;
  return {
    ...(keep === undefined ? {} : { tracks: keep }),
    source: { path, bytes, mtimeMs, track: trackOf({ input }), language: statedLanguage(fields) },
    ...(isFirst ? { isFirst } : {}),
  };
}

/** Whether the result is made on this machine alone, without a job. */
export function isMadeHere({ input, gathers }: Pick<BatchItem, 'input' | 'gathers'>): boolean {
  return gathers !== undefined || isCopied(input);
}

/** The file of an input on this disk, with its size in bytes; null if it is not a file. */
export function fileOf(input: JobInput): { readonly path: string; readonly bytes: number } | null {
  if (input.type === 'file') return input;
  if (input.type === 'unusable') return { path: input.path, bytes: input.bytes ?? 0 };
  return input.type === 'lines' ? input.file : null;
}

/** Finds items with the same key, which records could not distinguish. */
export function findDuplicateItems(items: readonly BatchItem[]): InputProblem[] {
  const labels = new Map<string, string>();
  return items.flatMap(({ key, label }): InputProblem[] => {
    const first = labels.get(key);
    labels.set(key, first ?? label);
    if (first === undefined) return [];
    const twice = first === label ? 'is requested twice' : `has the same name as ${first}`;
    return [{ pointer: label, detail: `${twice}; remove one, or run it with another --out` }];
  });
}

export type Order = 'given' | 'size' | 'name';

/** Sorts inputs into the order in which they start. With `size` the smallest come first, so that results come soon. */
export function orderInputs<T extends { readonly input: JobInput }>(
  inputs: readonly T[],
  order: Order,
): readonly T[] {
  switch (order) {
    case 'given':
      return inputs;
    case 'size':
      return inputs.toSorted((left, right) => sizeOf(left.input) - sizeOf(right.input));
    case 'name':
      return inputs.toSorted((left, right) => byName(left.input.name, right.input.name));
  }
}

function sizeOf(input: JobInput): number {
  return fileOf(input)?.bytes ?? 0;
}

/** Null if only the service can measure it: addresses, uploads, jobs, videos that cannot be read here. */
export function unitsOf(kind: JobKind, input: JobInput): Units | null {
  const { unit } = KINDS[kind];
  if (unit === 'started_minute') {
    if (input.type !== 'file') return null;
    if (isCopied(input)) return { unit, quantity: 0 };
    const minutes = input.preparation?.minutes ?? null;
    return minutes === null ? fileUnits(kind, input.seconds) : { unit, quantity: minutes };
  }
  return input.type === 'lines' ? unitsOfLines(kind, input.parts ?? [input]) : null;
}

/** Units of subtitles in parts: each part is rounded up to a thousand characters. */
export function unitsOfLines(
  kind: JobKind,
  parts: readonly { readonly lines: readonly SubtitleLine[] }[],
): Units {
  const { unit } = KINDS[kind];
  const count = (lines: readonly SubtitleLine[]) =>
    quantityOf(unit, { seconds: 0, lines: lines.length, characters: countCharacters(lines) });
  return { unit, quantity: parts.reduce((sum, { lines }) => sum + count(lines), 0) };
}

/** The jobs of an item with voices. */
export interface SpeakerJob extends Units {
  /** Null for everyone without a voice of their own. */
  readonly speaker: string | null;
  readonly voice_mode: string;
  readonly cues: number;
}

/** One for each job of an item with voices; none without. */
export function speakersOf({ kind, input, fields }: Pick<BatchItem, 'kind' | 'input' | 'fields'>) {
  if (input.type !== 'lines' || input.voices === undefined) return [];
  const usual = String(fields.voice_mode ?? VOICE_MODE.default);
  return (input.parts ?? []).map(
    ({ lines, voice }): SpeakerJob => ({
      speaker: voice?.speaker ?? null,
      voice_mode: voice?.mode ?? usual,
      cues: lines.length,
      ...unitsOfLines(kind, [{ lines }]),
    }),
  );
}

/** Units of a file that is sent whole. @param seconds null if unknown */
export function fileUnits(kind: JobKind, seconds: number | null): Units | null {
  const { unit } = KINDS[kind];
  if (unit !== 'started_minute' || seconds === null) return null;
  return { unit, quantity: quantityOf(unit, { seconds, lines: 0, characters: 0 }) };
}
