/** What makes two requests mean the same result. */
import { hash } from 'node:crypto';
import { withoutSecrets } from '../../journal/without-secrets.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { fieldFlags, sourceFieldOf } from './field-flags.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Fields that tell jobs apart or name whom to tell, without a say in what they make. */
const NO_OPTIONS = ['target_language', 'client_reference', 'callback_url'];

/** 64 bits: two sets of options of one item differ in their digest but for once in 10^19 times. */
const DIGEST_LENGTH = 16;

/** The fields that decide what comes out, defaults filled in, addresses without their secrets. */
export function meaningOf(kind: JobKind, fields: Fields): Fields {
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
