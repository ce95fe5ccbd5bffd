/** The body of a paid call: the same bytes each time it is sent, in this run and in the next. */
import { hash } from 'node:crypto';
import type { IntendRecord } from '../../journal/intents.ts';
import type { SubtitleInput } from '../../protocol/request-types.ts';
import type { BatchItem } from '../item.ts';
import { sourceFieldOf } from '../plan/field-flags.ts';
import type { JobInput } from '../plan/input.ts';

export type Request = Readonly<Record<string, unknown>>;

/** @param reference used unless the user has given one */
export function buildRequest(item: BatchItem, source: SubtitleInput, reference: string): Request {
  return { client_reference: reference, ...item.fields, [sourceFieldOf(item.kind)]: source };
}

/** SHA-256 of the bytes that the client makes of a request, lower-case hex. */
export function digestRequest(request: Request): string {
  return hash('sha256', JSON.stringify(request));
}

/** A request as the journal keeps it: lines are in the file that they came from, and may be thousands. */
export function withoutLines(request: Request): Record<string, unknown> {
  const { subtitle } = request;
  if (!hasLines(subtitle)) return { ...request };
  const lines = { count: subtitle.lines.length, sha256: hash('sha256', JSON.stringify(subtitle.lines)) };
  return { ...request, subtitle: { ...subtitle, lines } };
}

function hasLines(value: unknown): value is { readonly lines: readonly unknown[] } {
  return typeof value === 'object' && value !== null && 'lines' in value && Array.isArray(value.lines);
}

/**
 * The request of an intent as it was sent, or null when what it was made of has changed since. The journal has neither
 * the query of an address nor the lines: those come from the item.
 * @param source of a job whose lines are the input; null for other inputs
 */
export function rebuildRequest(
  item: BatchItem,
  asked: IntendRecord,
  source: SubtitleInput | null,
): Request | null {
  const candidates = [asked.params, withOwnParts(item, asked.params, source)];
  return candidates.find((request) => digestRequest(request) === asked.body_sha256) ?? null;
}

function withOwnParts(item: BatchItem, params: Request, source: SubtitleInput | null): Request {
  const { input, kind, fields } = item;
  const own = source ?? sourceOf(input);
  return {
    ...params,
    ...(fields.callback_url === undefined ? {} : { callback_url: fields.callback_url }),
    ...(own === null ? {} : { [sourceFieldOf(kind)]: own }),
  };
}

function sourceOf(input: JobInput): SubtitleInput | null {
  if (input.type === 'url') return { type: 'url', url: input.url };
  return input.type === 'lines' ? { type: 'lines', lines: [...input.lines] } : null;
}
