/** Validators of the output that several commands share. */
import * as v from 'valibot';
import type { Printed } from './command.ts';

export const NullableText = v.nullable(v.string());
export const NullableNumber = v.nullable(v.number());
/** Whatever the service or another program sent. */
export const Anything = v.record(v.string(), v.unknown());

/** A line of its own kind. */
export function lineOf<const Type extends string, Entries extends v.ObjectEntries>(
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
export const ListSummary = lineOf('summary', { count: v.number(), ...PAGE });
const RecordSummary = lineOf('summary', { count: v.number() });

/** A command that prints a list of rows. */
export function describeList(row: v.GenericSchema): Printed {
  return { json: [listOf(row)], ndjson: [row, ListSummary] };
}

/** A command that prints one row. */
export function describeRecord(row: v.GenericSchema): Printed {
  return { json: [row], ndjson: [row, RecordSummary] };
}

/** A command that prints the row for one operand, and a list for several. */
export function describeRecordOrList(row: v.GenericSchema): Printed {
  return { json: [row, listOf(row)], ndjson: [row, ListSummary, RecordSummary] };
}
