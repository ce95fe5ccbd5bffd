/** Output schemas of the `engines` commands. */
import * as v from 'valibot';
import { ENGINE_STEPS } from '../../protocol/provenance.ts';
import {
  describeList,
  describePrinted,
  describeRecord,
  line,
  NullableNumber,
  NullableText,
} from '../context/output-schemas.ts';

const ENGINE = { step: v.picklist([...ENGINE_STEPS, 'diarize']), position: v.number(), engine: v.string() };

export const ENGINE_RECORD = describeRecord(v.object(ENGINE));

export const ENGINE_TRIALS = describeList(
  v.object({
    ...ENGINE,
    result: v.picklist(['succeeded', 'failed', 'skipped']),
    language: NullableText,
    output: NullableText,
    word_error_rate: NullableNumber,
    chrf: NullableNumber,
    understood: NullableNumber,
    seconds: NullableNumber,
    real_time_factor: NullableNumber,
    memory_bytes: NullableNumber,
    problem: NullableText,
  }),
);

const INSTALLED = {
  name: v.string(),
  steps: v.array(v.string()),
  purpose: v.string(),
  installed: v.boolean(),
};
const USED = { ...ENGINE, languages: v.array(v.string()), problem: NullableText, fix: NullableText };
const CAPABILITIES = {
  missing: v.array(v.object({ step: v.string(), engine: v.string(), reason: v.optional(v.string()) })),
  recognize: v.array(v.string()),
  translate: v.array(v.object({ from: v.string(), to: v.string(), through: v.exactOptional(v.string()) })),
  speak: v.array(v.object({ language: v.string(), voices: v.array(v.string()) })),
};

export const ENGINES_IN_USE = describePrinted({
  json: [
    v.object({
      engines: v.array(v.object(INSTALLED)),
      file: NullableText,
      used: v.array(v.object(USED)),
      capabilities: v.object(CAPABILITIES),
    }),
  ],
  ndjson: [
    line('engine', INSTALLED),
    line('used_engine', USED),
    line('summary', { file: NullableText, ...CAPABILITIES }),
  ],
});

export const INSTALLED_ENGINES = describePrinted({
  json: [v.object({ installed: v.array(v.string()), missing: v.array(v.string()) })],
});
