/** Requests for an input: built from options, one for each target language, and compared with earlier ones. */

import { hash } from 'node:crypto';
import { canonicalJson } from '../../base/json.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type Kind } from '../../protocol/kinds.ts';
import {
  canonicalLanguage,
  describeSpecialTag,
  isKnownLanguage,
  languageName,
  nearestLanguage,
} from '../../protocol/language-tag.ts';
import { checkJobRequest } from '../../protocol/requests.ts';
import type { InputProblem } from '../input.ts';
import { withoutSecrets } from '../records/secrets.ts';
import { fieldFlags, flagName, sourceFieldOf } from './field-flags.ts';

type Fields = Readonly<Record<string, unknown>>;
type MutableFields = Record<string, unknown>;

export interface PlannedRequest {
  /** Null for kinds that produce no other language. */
  readonly targetLanguage: string | null;
  /** The request without its source. */
  readonly fields: Fields;
}

/**
 * @param body fields from --body, which options override
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
  for (const {
    field,
    option,
    row: { type },
  } of fieldFlags(kind)) {
    const value = options[option];
    if (field === 'target_language' || value === undefined) continue;
    common[field] = type === 'language' ? canonicalTag(String(value)) : value;
  }
  const pairs = pairsOf(options.set);
  for (const named of [...Object.keys(body), ...Object.keys(pairs)]) {
    if (named.split('.')[0] === sourceFieldOf(kind))
      problems.push({ pointer: named, detail: 'is set by the input argument; pass it there' });
  }
  if (row.fields.target_language === undefined) {
    problems.push(...fieldProblems(kind, common, pairs));
    return [{ targetLanguage: null, fields: setFields(common, pairs, problems) }];
  }
  const tags = languagesOf(options.to, body.target_language);
  if (tags.length === 0)
    problems.push({ pointer: '--to', detail: 'missing; name the language to produce, for example --to es' });
  const requests: PlannedRequest[] = [];
  for (const tag of new Set(tags.map(canonicalTag))) {
    const fields = { ...common, target_language: tag };
    addNew(problems, fieldProblems(kind, fields, pairs));
    requests.push({ targetLanguage: tag, fields: setFields(fields, pairs, problems) });
  }
  return requests;
}

/** The tag in canonical form, also from a locale such as `fr_FR`; an invalid tag as it is. */
function canonicalTag(tag: string): string {
  return canonicalLanguage(tag.replaceAll('_', '-')) ?? tag;
}

/** The languages of a command share their other fields, whose problems are reported once. */
function addNew(problems: InputProblem[], found: readonly InputProblem[]): void {
  for (const each of found) {
    const isKnown = problems.some(
      ({ pointer, detail }) => pointer === each.pointer && detail === each.detail,
    );
    if (!isKnown) problems.push(each);
  }
}

function languagesOf(to: unknown, fromBody: unknown): readonly string[] {
  if (Array.isArray(to) && to.length > 0) return to.map(String);
  return typeof fromBody === 'string' ? [fromBody] : [];
}

function pairsOf(set: unknown): Readonly<Record<string, string>> {
  // The parser makes `pairs` of strings only.
  return typeof set === 'object' && set !== null ? (set as Record<string, string>) : {};
}

/** A placeholder, since the real source is checked elsewhere. */
const ANY_SOURCE = { type: 'upload', upload_id: 'checked elsewhere' };

/** @param pairs fields of --set: their values are sent unchecked */
function fieldProblems(kind: JobKind, fields: Fields, pairs: Fields): InputProblem[] {
  const options = new Map<string, string>(fieldFlags(kind).map(({ field, option }) => [field, option]));
  // The service checks fields that --body adds beyond the table.
  const known = Object.entries(fields).filter(([field]) => options.has(field));
  const checked = checkJobRequest(kind, { ...Object.fromEntries(known), [sourceFieldOf(kind)]: ANY_SOURCE });
  const errors = checked.ok ? [] : checked.errors;
  const invalid = errors.map(({ pointer, detail }) => {
    const field = pointer.slice(1);
    const value = fields[field];
    const isLanguage = field === 'source_language' || field === 'target_language';
    return {
      pointer: flagName(options.get(field) ?? field),
      detail: `${detail}${typeof value === 'string' ? `: ${value}${isLanguage ? suggestLanguage(value) : ''}` : ''}`,
    };
  });
  return [...invalid, ...unknownLanguages(kind, fields, pairs)];
}

/** Valid tags that name no known language. A service may know more, so --set sends any of them. */
function unknownLanguages(kind: JobKind, fields: Fields, pairs: Fields): InputProblem[] {
  return fieldFlags(kind).flatMap(({ field, option, row }): InputProblem[] => {
    const tag = fields[field];
    if (row.type !== 'language' || typeof tag !== 'string' || pairs[field] !== undefined) return [];
    if (tag === 'auto' || canonicalLanguage(tag) === null || isKnownLanguage(tag)) return [];
    const what = describeSpecialTag(tag) ?? 'unknown language';
    const detail = `${what}: ${tag}${suggestLanguage(tag)} To send it anyway, add --set ${field}=${tag}`;
    return [{ pointer: flagName(option), detail }];
  });
}

function suggestLanguage(text: string): string {
  const tag = nearestLanguage(text);
  return tag === null
    ? '; write a tag such as es or pt-BR.'
    : `; did you mean ${tag} (${languageName(tag)})?`;
}

/** Names that would change the prototype of all objects. */
const FORBIDDEN = ['__proto__', 'constructor', 'prototype'];

/**
 * Adds the fields of --set: `tone=formal`, `count=3`, `voice.speed=1.2`. A value that is JSON is read as JSON, everything
 * else as text. The service checks the values.
 */
export function setFields(
  fields: Fields,
  pairs: Readonly<Record<string, string>>,
  problems: InputProblem[],
): MutableFields {
  // A copy, since the requests for all languages are made from the same fields.
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

/** Fields that do not change the result: identification and notification. */
const NO_OPTIONS = ['target_language', 'client_reference', 'callback_url'];

/** 64 bits: two different sets of options of an item have the same digest once in 10^19 times. */
const DIGEST_LENGTH = 16;

/** The fields that determine the result, with defaults, and addresses without secrets. */
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

/** 16 hex digits of SHA-256. An explicit default counts like an omitted field. */
export function digestOptions(kind: JobKind, fields: Fields): string {
  return hash('sha256', canonicalJson(meaningOf(kind, fields))).slice(0, DIGEST_LENGTH);
}

/** `--voice-mode auto → male` for each option that differs, as `meaningOf` returns them; fields without an option by their names. */
export function describeChange(kind: JobKind, before: Fields, now: Fields): readonly string[] {
  const [old, wanted] = [meaningOf(kind, before), meaningOf(kind, now)];
  const names = new Set([...Object.keys(old), ...Object.keys(wanted)]);
  const flags = new Map(fieldFlags(kind).map(({ field, option }) => [field, flagName(option)]));
  return [...names].toSorted().flatMap((name) => {
    const [from, to] = [showValue(old[name]), showValue(wanted[name])];
    return from === to ? [] : [`${flags.get(name) ?? name} ${from} → ${to}`];
  });
}

function showValue(value: unknown): string {
  if (value === undefined) return 'not given';
  return typeof value === 'string' ? value : canonicalJson(value);
}
