/** Fields of control requests: valibot schemas with their help and the values that they expect in words. */
import * as v from 'valibot';
import { parseInstant } from '../../protocol/instant.ts';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import type { FieldError } from '../../protocol/problem.ts';
import { refuseFields } from '../http/refusal.ts';

/** A schema with its words for documents and messages. */
interface Form<S extends v.GenericSchema = v.GenericSchema> {
  readonly schema: S;
  readonly expected: string;
}

/** A field that must be sent. */
export const requiredField = <const S extends v.GenericSchema>({ schema, expected }: Form<S>, help: string) =>
  v.pipe(schema, v.description(help), v.metadata({ expected }));

/** A field that may be missing. */
export const optionalField = <const S extends v.GenericSchema>(form: Form<S>, help: string) =>
  v.exactOptional(requiredField(form, help));

type ControlField = v.GenericSchema | v.ExactOptionalSchema<v.GenericSchema, undefined>;
/** All fields of a request. */
export type ControlFields = v.ObjectSchema<Readonly<Record<string, ControlField>>, undefined>;

const whole = (least: number) => v.pipe(v.number(), v.safeInteger(), v.minValue(least));
const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
const Json = v.custom<Readonly<Record<string, unknown>>>(isObject);

export const FORMS = {
  number: { schema: v.pipe(v.number(), v.finite()), expected: 'number' },
  count: { schema: whole(1), expected: 'whole number, at least 1' },
  whole: { schema: whole(0), expected: 'whole number, at least 0' },
  seconds: { schema: v.pipe(v.number(), v.finite(), v.minValue(0)), expected: 'number, at least 0' },
  text: { schema: v.string(), expected: 'string' },
  /** Milliseconds since 1970. */
  instant: {
    schema: v.pipe(v.string(), v.transform(parseInstant), v.number()),
    expected: 'RFC 3339 time',
  },
  texts: { schema: v.array(v.pipe(v.string(), v.nonEmpty())), expected: 'array of strings' },
  object: { schema: Json, expected: 'object' },
  objects: { schema: v.array(Json), expected: 'array of objects' },
} as const;

export const choiceOf = <const Choice extends string>(choices: readonly Choice[]) => ({
  schema: v.picklist(choices),
  expected: `one of ${choices.join(', ')}`,
});

/** JSON null removes a rule. */
const nullable = <const S extends v.GenericSchema>({ schema, expected }: Form<S>) => ({
  schema: v.nullable(schema),
  expected: `${expected}, or null`,
});

export const FAULT_FIELDS = v.object({
  on: requiredField(
    FORMS.text,
    'route, such as "POST /dubbings", "PUT /objects/{upload_id}" or "GET /assets/{job_id}/{name}"',
  ),
  times: optionalField(
    {
      schema: v.union([
        whole(1),
        v.pipe(
          v.literal('always'),
          v.transform(() => Number.POSITIVE_INFINITY),
        ),
      ]),
      expected: 'whole number, at least 1, or "always"',
    },
    'number of requests, or always (default: 1)',
  ),
  status: optionalField(FORMS.count, 'answer with this status'),
  code: optionalField(FORMS.text, 'error code of that answer (default: the first one with its status)'),
  retry_after: optionalField(FORMS.whole, 'Retry-After of that answer, in seconds'),
  body: optionalField(FORMS.text, 'answer with exactly this text'),
  headers: optionalField(FORMS.object, 'headers of that text'),
  drop: optionalField(choiceOf(['before', 'after']), 'close the connection before or after the work'),
  cut_after_bytes: optionalField(FORMS.count, 'cut the correct answer after this many bytes'),
  delay_ms: optionalField(FORMS.whole, 'wait this many milliseconds first'),
  when: optionalField(
    choiceOf(['before', 'after']),
    'answer before or after the work is done (default: before)',
  ),
});

export const KEY_FIELDS = v.object({
  permissions: optionalField(
    {
      schema: v.array(v.picklist(JOB_KIND_NAMES)),
      expected: `array of strings: ${JOB_KIND_NAMES.join(', ')}`,
    },
    'capabilities that the key may use',
  ),
  monthly_quota_credits: optionalField(
    nullable(FORMS.number),
    'credits per calendar month, in Asia/Shanghai; null: no limit',
  ),
  allowed_addresses: optionalField(FORMS.texts, 'addresses and networks that may use the key; none: all'),
  rate: optionalField(
    nullable({
      schema: v.pipe(
        v.strictObject({ requests: whole(1), window_seconds: whole(1) }),
        v.transform(({ requests, window_seconds: windowSeconds }) => ({ requests, windowSeconds })),
      ),
      expected: '`{"requests": 10, "window_seconds": 60}`',
    }),
    'requests per window, until the service ends; null: as for other keys',
  ),
});

/** The facts of a field for documents and messages. */
export function describeField(field: ControlField): { isRequired: boolean; expected: string; help: string } {
  const schema = 'wrapped' in field ? field.wrapped : field;
  return {
    isRequired: field.type !== 'exact_optional',
    expected: String(v.getMetadata(schema).expected),
    help: v.getDescription(schema) ?? '',
  };
}

/**
 * Reads the fields of an object.
 * @param prefix of the pointers of errors
 * @throws Refusal INVALID_REQUEST that names every invalid, missing and unknown field
 */
export function readFields<const S extends ControlFields>(
  fields: S,
  given: Readonly<Record<string, unknown>>,
  prefix = '',
): v.InferOutput<S> {
  const errors: FieldError[] = Object.keys(given)
    .filter((name) => !Object.hasOwn(fields.entries, name))
    .map((name) => ({ pointer: prefix + name, detail: 'there is no such field' }));
  for (const [name, field] of Object.entries(fields.entries)) {
    const { isRequired, expected } = describeField(field);
    if (!Object.hasOwn(given, name)) {
      if (isRequired) errors.push({ pointer: prefix + name, detail: `is missing: ${expected}` });
    } else if (!v.is(field, given[name])) {
      errors.push({ pointer: prefix + name, detail: `must be: ${expected}` });
    }
  }
  if (errors.length > 0) throw refuseFields(errors);
  return v.parse(fields, given);
}
