/** What commands print about this machine: checks, profiles, engines, webhooks. */
import * as v from 'valibot';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { ENGINE_STEPS } from '../../protocol/provenance.ts';
import { JOB_STATUSES } from '../../protocol/states.ts';
import {
  Anything,
  describeList,
  describePrinted,
  describeRecord,
  line,
  NullableNumber,
  NullableText,
} from '../context/output-schemas.ts';
import { PROFILE_FIELDS } from '../profiles/profiles.ts';

const GRADES = { ok: v.number(), warn: v.number(), fail: v.number() };
const CHECK = {
  check: v.string(),
  state: v.picklist(['ok', 'warn', 'fail']),
  area: v.picklist(['configuration', 'disk', 'network']),
  message: v.string(),
  fix: NullableText,
  facts: Anything,
};

export const FINDINGS = describePrinted({
  json: [v.object({ ...GRADES, checks: v.array(v.object(CHECK)) })],
  ndjson: [line('check', CHECK), line('summary', GRADES)],
});

const ProfileSchema = v.object({
  ...Object.fromEntries(PROFILE_FIELDS.map((field) => [field, NullableText])),
  name: v.string(),
  in_use: v.boolean(),
});

export const PROFILE_RECORD = describeRecord(ProfileSchema);
export const PROFILE_LIST = describeList(ProfileSchema);
export const SHOWN_SETTINGS = describeList(
  v.object({ setting: v.string(), value: NullableText, origin: NullableText }),
);

const ENGINE = { step: v.picklist(ENGINE_STEPS), position: v.number(), engine: v.string() };

export const ENGINE_RECORD = describeRecord(v.object(ENGINE));

export const ENGINE_TRIALS = describeList(
  v.object({
    ...ENGINE,
    result: v.picklist(['succeeded', 'failed', 'skipped']),
    language: NullableText,
    output: NullableText,
    word_error_rate: NullableNumber,
    seconds: NullableNumber,
    real_time_factor: NullableNumber,
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

const CHECKS = ['form', 'signature', 'timestamp'] as const;

const VERDICTS = [
  v.object({ valid: v.literal(true), event_id: v.string(), form: v.string(), age_seconds: v.number() }),
  v.object({ valid: v.literal(false), check: v.picklist(CHECKS), message: v.string() }),
];

export const WEBHOOK_VERDICT = describePrinted({ json: VERDICTS, ndjson: VERDICTS });

const EVENT = {
  id: v.string(),
  event_type: NullableText,
  created_at: NullableText,
  job: v.object({
    id: NullableText,
    kind: v.nullable(v.picklist(JOB_KIND_NAMES)),
    status: v.nullable(v.picklist(JOB_STATUSES)),
    client_reference: NullableText,
    detail_url: NullableText,
  }),
  form: v.string(),
  forwarded_status: NullableNumber,
};
const COUNTS = {
  events: v.number(),
  duplicates: v.number(),
  refused: v.number(),
  not_forwarded: v.number(),
  failed_commands: v.number(),
};

export const WEBHOOK_EVENTS = describePrinted({
  json: [v.object({ url: v.string(), ...COUNTS, received: v.array(v.object(EVENT)) })],
  ndjson: [
    line('listening', { url: v.string() }),
    line('event', EVENT),
    line('duplicate', { id: v.string() }),
    line('refused', { check: v.picklist(CHECKS), message: v.string() }),
    line('not_forwarded', { id: v.string(), status: NullableNumber, message: v.string() }),
    line('command_failed', { id: v.string(), message: v.string() }),
    line('summary', COUNTS),
  ],
});

const SCRIPT = [v.object({ shell: v.string(), script: v.string() })];
export const COMPLETION_SCRIPT = describePrinted({ json: SCRIPT, ndjson: SCRIPT });

export const UPGRADE = describeRecord(
  v.object({ version: v.string(), installed_by: v.string(), upgrade: v.string() }),
);

/** Of `vloc mcp`: messages of the Model Context Protocol, whatever --output says. */
export const PROTOCOL = describePrinted({});

/** A document of its own kind, such as an OpenAPI document. */
export const DOCUMENT = describePrinted({ json: [Anything], ndjson: [Anything] });
