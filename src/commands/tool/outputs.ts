/** Output schemas of the commands about vloc itself. */
import * as v from 'valibot';
import { Anything, describePrinted, describeRecord } from '../context/output-schemas.ts';

const SCRIPT = [v.object({ shell: v.string(), script: v.string() })];
export const COMPLETION_SCRIPT = describePrinted({ json: SCRIPT, ndjson: SCRIPT });

export const UPGRADE = describeRecord(
  v.object({ version: v.string(), installed_by: v.string(), upgrade: v.string() }),
);

/** A document of its own kind, such as an OpenAPI document. */
export const DOCUMENT = describePrinted({ json: [Anything], ndjson: [Anything] });
