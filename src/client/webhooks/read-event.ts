/**
 * The fields of an event. A hosted service may write them in another way than the contract, since the specification shows
 * none; fields that cannot be read are null. Source: contract, "Webhooks" and rule 3.
 */
import { JOB_KIND_NAMES, type JobKind } from '../../protocol/kind-names.ts';
import { JOB_STATUSES, type JobStatus } from '../../protocol/states.ts';
import { asObject, asText, type JsonObject, member } from '../read/record.ts';

export interface WebhookEvent {
  /** Such as `dubbing.succeeded`. */
  readonly type: string | null;
  /** RFC 3339. */
  readonly created_at: string | null;
  readonly job: {
    readonly id: string | null;
    readonly kind: JobKind | null;
    readonly status: JobStatus | null;
    readonly client_reference: string | null;
    /** Where the result is read with GET. */
    readonly detail_url: string | null;
  };
}

/** Reads a verified body; never throws, even if it is not JSON. */
export function readEvent(body: Uint8Array | string): WebhookEvent {
  const event = parse(body);
  const type = asText(member(event, 'type'));
  const [typeKind, typeStatus] = type?.split('.') ?? [];
  const data = asObject(member(event, 'data')) ?? {};
  const kind = asText(member(data, 'object')) ?? typeKind;
  const status = asText(member(data, 'status')) ?? typeStatus;
  return {
    type,
    created_at: asText(member(event, 'created_at')),
    job: {
      id: asText(member(data, 'id')),
      kind: JOB_KIND_NAMES.find((each) => each === kind) ?? null,
      status: JOB_STATUSES.find((each) => each === status) ?? null,
      client_reference: asText(member(data, 'client_reference')),
      detail_url: asText(member(data, 'detail_url')),
    },
  };
}

function parse(body: Uint8Array | string): JsonObject {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  try {
    return asObject(JSON.parse(text)) ?? {};
  } catch {
    return {};
  }
}
