/** JSON Schemas of the output that several commands share. */
import * as v from 'valibot';
import { describeSchema, type JsonSchema } from '../../protocol/openapi/json-schemas.ts';
import type { PrintedSchemas } from './command.ts';

export const NullableText = v.nullable(v.string());
export const NullableNumber = v.nullable(v.number());
/** Whatever the service or another program sent. */
export const Anything = v.record(v.string(), v.unknown());

/** The validators of a command: one for each form of the document, and one for each kind of line. */
interface Printed {
  readonly json?: readonly v.GenericSchema[];
  readonly ndjson?: readonly v.GenericSchema[];
}

/** Converts what a command prints. */
export function describePrinted({ json = [], ndjson = [] }: Printed): PrintedSchemas {
  return { json: oneOf(json), ndjson: oneOf(ndjson) };
}

function oneOf(forms: readonly v.GenericSchema[]): JsonSchema | null {
  const [first, ...others] = forms.map(describeSchema);
  if (first === undefined) return null;
  if (others.length === 0) return first;
  const all = [first, ...others];
  // Said once more for programs that look at the top only, as many agents do.
  const type = all.every((each) => each.type === 'object') ? { type: 'object' } : {};
  return { ...type, anyOf: all };
}

/** A line of its own kind. */
export function line<const Type extends string, Entries extends v.ObjectEntries>(
  type: Type,
  entries: Entries,
) {
  return v.object({ type: v.literal(type), ...entries });
}

const PAGE = { has_more: v.boolean(), next_cursor: NullableText };

export function listOf(row: v.GenericSchema): v.GenericSchema {
  return v.object({ object: v.literal('list'), data: v.array(row), ...PAGE });
}

/** The last line of a list. */
export const ListSummary = line('summary', { count: v.number(), ...PAGE });
const RecordSummary = line('summary', { count: v.number() });

/** A command that prints a list of rows. */
export function describeList(row: v.GenericSchema): PrintedSchemas {
  return describePrinted({ json: [listOf(row)], ndjson: [row, ListSummary] });
}

/** A command that prints one row. */
export function describeRecord(row: v.GenericSchema): PrintedSchemas {
  return describePrinted({ json: [row], ndjson: [row, RecordSummary] });
}

/** A command that prints the row for one operand, and a list for several. */
export function describeRecordOrList(row: v.GenericSchema): PrintedSchemas {
  return describePrinted({ json: [row, listOf(row)], ndjson: [row, ListSummary, RecordSummary] });
}
