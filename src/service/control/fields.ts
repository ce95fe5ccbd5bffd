/** Reads the fields of a control request by the table of operations. */

import { parseInstant } from '../../protocol/instant.ts';
import type { FieldError } from '../../protocol/problem.ts';
import { refuseFields } from '../http/refusal.ts';
import { type ControlField, FIELD_FORMS } from './field-types.ts';

type Fields = Readonly<Record<string, ControlField>>;

interface Values {
  number: number;
  count: number;
  times: number;
  whole: number;
  seconds: number;
  text: string;
  instant: number;
  list: readonly string[];
  rate: { readonly requests: number; readonly windowSeconds: number };
  object: Readonly<Record<string, unknown>>;
  objects: readonly Readonly<Record<string, unknown>>[];
}

type ValueOf<F extends ControlField> =
  | (F extends { type: 'choice'; choices: readonly (infer Choice)[] }
      ? Choice
      : F extends { type: 'list'; choices: readonly (infer Choice)[] }
        ? readonly Choice[]
        : F extends { type: keyof Values }
          ? Values[F['type']]
          : never)
  | (F extends { nullable: true } ? null : never);

/** Values by field: instants in ms since 1970, `times` infinite for "always". Fields that were not sent are missing. */
export type FieldValues<T extends Fields> = {
  readonly [N in keyof T as T[N] extends { required: true } ? N : never]: ValueOf<T[N]>;
} & { readonly [N in keyof T as T[N] extends { required: true } ? never : N]?: ValueOf<T[N]> };

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isWhole = (value: unknown, least: number): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= least;

/** Returns the value in the form that handlers use; undefined if it is not of that form. */
const READERS: { readonly [T in ControlField['type']]: (value: unknown, field: ControlField) => unknown } = {
  number: (value) => (isNumber(value) ? value : undefined),
  count: (value) => (isWhole(value, 1) ? value : undefined),
  times: (value) => (value === 'always' ? Number.POSITIVE_INFINITY : isWhole(value, 1) ? value : undefined),
  whole: (value) => (isWhole(value, 0) ? value : undefined),
  seconds: (value) => (isNumber(value) && value >= 0 ? value : undefined),
  text: (value) => (typeof value === 'string' ? value : undefined),
  instant: (value) => (typeof value === 'string' ? (parseInstant(value) ?? undefined) : undefined),
  choice: (value, { choices = [] }) => choices.find((choice) => choice === value),
  list: (value, { choices }) => {
    const isEntry = (entry: unknown) =>
      typeof entry === 'string' && entry !== '' && choices?.includes(entry) !== false;
    return Array.isArray(value) && value.every(isEntry) ? value : undefined;
  },
  rate(value) {
    if (!isObject(value)) return undefined;
    const { requests, window_seconds: windowSeconds, ...others } = value;
    if (Object.keys(others).length > 0 || !isWhole(requests, 1) || !isWhole(windowSeconds, 1))
      return undefined;
    return { requests, windowSeconds };
  },
  object: (value) => (isObject(value) ? value : undefined),
  objects: (value) => (Array.isArray(value) && value.every(isObject) ? value : undefined),
};

function formOf({ type, choices, nullable }: ControlField): string {
  const among = choices === undefined ? '' : `: ${choices.join(', ')}`;
  const form = type === 'choice' ? `one of${among.slice(1)}` : `${FIELD_FORMS[type]}${among}`;
  return nullable === true ? `${form}, or null` : form;
}

/**
 * Reads the fields of an object.
 * @param prefix of the pointers of errors
 * @throws Refusal INVALID_REQUEST that names every invalid, missing and unknown field
 */
export function readFields<const T extends Fields>(
  fields: T,
  given: Readonly<Record<string, unknown>>,
  prefix = '',
): FieldValues<T> {
  const errors: FieldError[] = Object.keys(given)
    .filter((name) => !Object.hasOwn(fields, name))
    .map((name) => ({ pointer: prefix + name, detail: 'there is no such field' }));
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields)) {
    const value = given[name];
    const pointer = prefix + name;
    if (value === undefined) {
      if (field.required === true) errors.push({ pointer, detail: `is missing: ${formOf(field)}` });
      continue;
    }
    const read = value === null && field.nullable === true ? null : READERS[field.type](value, field);
    if (read === undefined) errors.push({ pointer, detail: `must be: ${formOf(field)}` });
    else values[name] = read;
  }
  if (errors.length > 0) throw refuseFields(errors);
  return values as FieldValues<T>; // every value was read by its field
}
