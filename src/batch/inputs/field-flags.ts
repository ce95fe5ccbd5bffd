/** Names of request fields on the command line and in a sheet. */
import { COMMON_FIELDS, type Field } from '../../protocol/fields.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type Kinds } from '../../protocol/kinds.ts';

/** Short names for fields with long names. */
const SHORT_NAMES: Readonly<Record<string, string>> = { source_language: 'from', target_language: 'to' };

type CamelCase<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<CamelCase<Rest>>}`
  : Name;

type FieldsOf<Kind extends JobKind> = Kind extends JobKind ? keyof Kinds[Kind]['fields'] : never;

type RequestField = FieldsOf<JobKind> | keyof typeof COMMON_FIELDS;

/** The options of all kinds for request fields with one string. */
export type TextFieldOption =
  | 'from'
  | CamelCase<Exclude<RequestField, 'source' | 'subtitle' | 'source_language' | 'target_language'>>;

interface FieldFlag {
  /** Name of the request field. */
  readonly field: string;
  /** Name of the option, in camel case. */
  readonly option: string;
  readonly row: Field;
}

/** All request fields of a kind except the one for the input. */
export function fieldFlags(kind: JobKind): readonly FieldFlag[] {
  const fields: Record<string, Field> = { ...KINDS[kind].fields, ...COMMON_FIELDS };
  return Object.entries(fields)
    .filter(([, row]) => row.type !== 'source' && row.type !== 'subtitle')
    .map(([field, row]) => ({ field, option: SHORT_NAMES[field] ?? camelCase(field), row }));
}

/** The request field for the input. */
export function sourceFieldOf(kind: JobKind): 'source' | 'subtitle' {
  return KINDS[kind].input === 'video' ? 'source' : 'subtitle';
}

/** The flag of an option: `subtitleOutput` is written `--subtitle-output`. */
export function flagName(option: string): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The name of an option for a field of the API: `client_reference` is `clientReference`. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
