/** Output schemas of the `serve` commands. */
import * as v from 'valibot';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { ROLES } from '../../protocol/roles.ts';
import {
  describePrinted,
  describeRecord,
  line,
  NullableNumber,
  NullableText,
} from '../context/output-schemas.ts';

const STARTED = [
  v.object({
    base_url: v.string(),
    key: NullableText,
    secret: NullableText,
    webhook_secret: NullableText,
    control_url: v.optional(v.string()),
    control_token: v.optional(v.string()),
  }),
  v.object({ role: v.literal('worker'), node: v.string(), metrics_url: v.optional(v.string()) }),
];

export const STARTED_SERVICE = describePrinted({ json: STARTED, ndjson: STARTED });

const NodeHealthSchema = v.object({
  status: v.picklist(['starting', 'ok', 'degraded', 'failing', 'closing']),
  node: v.string(),
  role: v.picklist(ROLES),
  running_jobs: v.number(),
  database: v.string(),
  storage: v.string(),
  queue: v.string(),
  lease: NullableText,
  engines: NullableText,
  disk_free_bytes: NullableNumber,
  pid: v.number(),
  host: v.string(),
  checked_at: v.string(),
});
export const NODE_HEALTH = describePrinted({ json: [NodeHealthSchema], ndjson: [NodeHealthSchema] });

export const MOVED_ACCOUNT = describeRecord(
  v.object({
    from: v.string(),
    to: v.string(),
    keys: v.number(),
    jobs: v.number(),
    uploads: v.number(),
    ledger_entries: v.number(),
    balance_credits: v.number(),
    reserved_credits: v.number(),
    files: v.number(),
  }),
);

const KeySchema = v.object({
  key: v.string(),
  permissions: v.array(v.picklist(JOB_KIND_NAMES)),
  monthly_quota_credits: NullableNumber,
  allowed_addresses: v.array(v.string()),
  created_at: v.string(),
  revoked_at: NullableText,
});
const NewKeySchema = v.object({ key: v.string(), secret: v.string(), webhook_secret: v.string() });

export const NEW_KEY = describePrinted({ json: [NewKeySchema], ndjson: [NewKeySchema] });
export const KEY = describePrinted({ json: [KeySchema], ndjson: [KeySchema] });
export const KEYS = describePrinted({
  json: [v.array(KeySchema)],
  ndjson: [KeySchema, line('summary', { keys: v.number() })],
});
