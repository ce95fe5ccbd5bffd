/** Output schemas of the `memory` commands. */
import * as v from 'valibot';
import { describeList, describeRecord } from '../context/output-schemas.ts';

export const EXPORTED_MEMORY = describeRecord(v.object({ file: v.string(), units: v.number() }));
export const IMPORTED_MEMORY = describeList(
  v.object({ file: v.string(), imported: v.number(), skipped: v.number() }),
);
