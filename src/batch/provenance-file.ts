/** The file beside a result that says how it was made. */
import { readFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import * as v from 'valibot';
import { statReadable } from './inputs/file-status.ts';

export const PROVENANCE_SCHEMA_ADDRESS = 'https://unpkg.com/vloc/docs/provenance.schema.json';

const described = <const Schema extends v.GenericSchema>(schema: Schema, text: string) =>
  v.pipe(schema, v.description(text));

const Digest = described(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)), 'SHA-256, lower-case hex.');

export const ProvenanceFile = v.object({
  $schema: v.optional(v.string()),
  object: v.literal('provenance'),
  made_with: described(v.string(), 'The program that wrote this file, and its version.'),
  made_at: described(v.string(), 'When it wrote this file, RFC 3339.'),
  source: described(
    v.object({ name: v.string(), sha256: v.nullable(Digest) }),
    'The original. Its hash is null if it is not a file on this machine.',
  ),
  result: v.object({ name: v.string(), bytes: v.number(), sha256: Digest }),
  synthetic_speech: described(v.boolean(), 'False if only its subtitles are machine-made.'),
  from: described(v.nullable(v.string()), 'The spoken language of the original, BCP 47; null if unknown.'),
  to: described(v.array(v.string()), 'The languages of the result, BCP 47.'),
  steps: described(
    v.array(
      v.object({
        step: v.picklist(['recognize', 'translate', 'speak', 'separate']),
        by: described(
          v.picklist(['machine', 'given file']),
          'given file: subtitles that a person or another program has made.',
        ),
        engine: described(v.nullable(v.string()), 'Null if the service does not name it.'),
      }),
    ),
    'Who made what.',
  ),
  edited: described(
    v.array(
      v.object({
        step: v.picklist(['recognize', 'translate']),
        file: v.string(),
        cues: described(v.nullable(v.array(v.number())), 'Their numbers now; null if it is not known which.'),
      }),
    ),
    'Machine-made subtitles that were edited before they were used.',
  ),
});

export type ProvenanceDocument = v.InferOutput<typeof ProvenanceFile>;

/** Where the provenance of a result is: `talk.es.provenance.json` beside `talk.es.mp4`. */
export function provenancePath(result: string): string {
  return join(dirname(result), `${basename(result, extname(result))}.provenance.json`);
}

/** More than the numbers of a hundred thousand edited cues. */
const MOST_BYTES = 1024 * 1024;

/** The document beside a result; null if there is none. Both may come from others. */
export async function readProvenance(result: string): Promise<ProvenanceDocument | null> {
  const path = provenancePath(result);
  const found = await statReadable(path);
  if (typeof found === 'string' || found.bytes > MOST_BYTES) return null;
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), ProvenanceFile), await readFile(path, 'utf8'));
  // `talk.es.m4a` has the same place as `talk.es.mp4`.
  return read.success && extname(read.output.result.name) === extname(result) ? read.output : null;
}
