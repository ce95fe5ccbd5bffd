/** Options made into the requests of one input: one for each language. */

import { hash } from 'node:crypto';
import { withoutSecrets } from '../../journal/record-line.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type Kind } from '../../protocol/kinds.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import { checkJobRequest } from '../../protocol/requests.ts';
import { fieldFlags, flagName, sourceFieldOf } from './field-flags.ts';
import type { InputProblem } from './input.ts';

type Fields = Readonly<Record<string, unknown>>;
type MutableFields = Record<string, unknown>;

export interface PlannedRequest {
  /** Null for kinds that produce no other language. */
  readonly targetLanguage: string | null;
  /** The request without its source. */
  readonly fields: Fields;
}

/**
 * @param body fields from --body, which options win over
 * @param options by option name, those of a sheet's row already among them
 */
export function buildRequests(
  kind: JobKind,
  body: Fields,
  options: Fields,
  problems: InputProblem[],
): readonly PlannedRequest[] {
  const row: Kind = KINDS[kind];
  const common: Record<string, unknown> = { ...body };
  for (const { field, option } of fieldFlags(kind)) {
    if (field !== 'target_language' && options[option] !== undefined) common[field] = options[option];
  }
  const pairs = pairsOf(options.set);
  for (const named of [...Object.keys(body), ...Object.keys(pairs)]) {
    if (named.split('.')[0] === sourceFieldOf(kind))
      problems.push({ pointer: named, detail: 'is set by the operand; give it there' });
  }
  if (row.fields.target_language === undefined) {
    problems.push(...fieldProblems(kind, common));
    return [{ targetLanguage: null, fields: setFields(common, pairs, problems) }];
  }
  const tags = languagesOf(options.to, body.target_language);
  if (tags.length === 0)
    problems.push({ pointer: '--to', detail: 'missing; name the language to produce, for example --to es' });
  const requests: PlannedRequest[] = [];
  for (const tag of new Set(tags.map((each) => canonicalLanguage(each) ?? each))) {
    const fields = { ...common, target_language: tag };
    problems.push(...fieldProblems(kind, fields));
    requests.push({ targetLanguage: tag, fields: setFields(fields, pairs, problems) });
  }
  return requests;
}

function languagesOf(to: unknown, fromBody: unknown): readonly string[] {
  if (Array.isArray(to) && to.length > 0) return to.map(String);
  return typeof fromBody === 'string' ? [fromBody] : [];
}

function pairsOf(set: unknown): Readonly<Record<string, string>> {
  // The parser makes `pairs` of texts only.
  return typeof set === 'object' && set !== null ? (set as Record<string, string>) : {};
}

/** Any source passes here: whether the real one is usable is another check. */
const ANY_SOURCE = { type: 'upload', upload_id: 'checked elsewhere' };

function fieldProblems(kind: JobKind, fields: Fields): InputProblem[] {
  const options = new Map<string, string>(fieldFlags(kind).map(({ field, option }) => [field, option]));
  // What --body adds beyond the table is the service's to judge.
  const known = Object.entries(fields).filter(([field]) => options.has(field));
  const checked = checkJobRequest(kind, { ...Object.fromEntries(known), [sourceFieldOf(kind)]: ANY_SOURCE });
  if (checked.ok) return [];
  return checked.errors.map(({ pointer, detail }) => {
    const field = pointer.slice(1);
    const value = fields[field];
    return {
      pointer: flagName(options.get(field) ?? field),
      detail: `${detail}${typeof value === 'string' ? `: ${value}` : ''}`,
    };
  });
}

/** Names that would change what every object inherits. */
const FORBIDDEN = ['__proto__', 'constructor', 'prototype'];

/**
 * The fields with what --set names put into them: `tone=formal`, `count=3`, `voice.speed=1.2`. A value that is JSON is
 * taken as JSON, everything else as text. What it is worth is the service's to judge.
 */
export function setFields(
  fields: Fields,
  pairs: Readonly<Record<string, string>>,
  problems: InputProblem[],
): MutableFields {
  // A copy: one request for each language is made of the same fields.
  const result: MutableFields = structuredClone(fields);
  for (const [name, text] of Object.entries(pairs)) {
    const path = name.split('.');
    if (path.some((part) => part === '' || FORBIDDEN.includes(part))) {
      problems.push({ pointer: `--set ${name}`, detail: 'is not a valid field name' });
      continue;
    }
    if (!put(result, path, readValue(text))) {
      problems.push({ pointer: `--set ${name}`, detail: 'sets a part of a field that is not an object' });
    }
  }
  return result;
}

function put(object: MutableFields, [name = '', ...rest]: readonly string[], value: unknown): boolean {
  if (rest.length === 0) {
    object[name] = value;
    return true;
  }
  object[name] ??= {};
  const inner = object[name];
  return isObject(inner) && put(inner, rest, value);
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isObject(value: unknown): value is MutableFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Fields that tell jobs apart or name whom to tell, without a say in what they make. */
const NO_OPTIONS = ['target_language', 'client_reference', 'callback_url'];

/** 64 bits: two sets of options of one item differ in their digest but for once in 10^19 times. */
const DIGEST_LENGTH = 16;

/** The fields that decide what comes out, defaults filled in, addresses without their secrets. */
function meaningOf(kind: JobKind, fields: Fields): Fields {
  const meant: Record<string, unknown> = {};
  for (const { field, row } of fieldFlags(kind)) {
    if ('default' in row) meant[field] = row.default;
  }
  const left = [...NO_OPTIONS, sourceFieldOf(kind)];
  const given = Object.entries(withoutSecrets(fields));
  for (const [name, value] of given) if (!left.includes(name)) meant[name] = value;
  return meant;
}

/** 16 hex digits of SHA-256. A default that is spelled out counts as one that is omitted. */
export function digestOptions(kind: JobKind, fields: Fields): string {
  return hash('sha256', canonicalJson(meaningOf(kind, fields))).slice(0, DIGEST_LENGTH);
}

/** `voice_mode auto → male` for each option that differs; both sides in the sense of `meaningOf`. */
export function describeChange(kind: JobKind, before: Fields, now: Fields): readonly string[] {
  const [old, wanted] = [meaningOf(kind, before), meaningOf(kind, now)];
  const names = new Set([...Object.keys(old), ...Object.keys(wanted)]);
  return [...names].toSorted().flatMap((name) => {
    const [from, to] = [showValue(old[name]), showValue(wanted[name])];
    return from === to ? [] : [`${name} ${from} → ${to}`];
  });
}

function showValue(value: unknown): string {
  if (value === undefined) return 'not given';
  return typeof value === 'string' ? value : canonicalJson(value);
}

/** JSON with the names of every object in order. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  );
}
