/** The only event: a job has ended. Source: specification, "Events"; contract, "Webhooks". */
import * as v from 'valibot';
import { DEFAULT_HEADER_PREFIX } from '../headers.ts';
import { JOB_KIND_NAMES } from '../kind-names.ts';
import type { JobEvent } from '../resources.ts';
import { shapeOf } from '../shape.ts';
import { isTerminal, JOB_STATUSES } from '../states.ts';
import { type JsonSchema, referenceTo } from './json-schemas.ts';
import { Instant, Path, Reference } from './resource-schemas.ts';

const ENDINGS = JOB_STATUSES.filter(isTerminal);
const EVENT_ID = '^evt_[A-Za-z0-9_-]{16,80}$';

export const EventSchema = shapeOf<JobEvent>()(
  v.strictObject({
    id: v.pipe(v.string(), v.regex(new RegExp(EVENT_ID))),
    object: v.literal('event'),
    type: v.picklist(JOB_KIND_NAMES.flatMap((kind) => ENDINGS.map((status) => `${kind}.${status}` as const))),
    created_at: Instant,
    data: v.strictObject({
      id: v.string(),
      object: v.picklist(JOB_KIND_NAMES),
      status: v.picklist(ENDINGS),
      client_reference: Reference,
      detail_url: Path,
    }),
  }),
);

/** Describes the request that the service sends to the `callback_url` of a job. */
export function describeWebhook(headerPrefix: string = DEFAULT_HEADER_PREFIX): JsonSchema {
  const header = (name: string, description: string, pattern: string) => ({
    name: `${headerPrefix}-Webhook-${name}`,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string', pattern },
  });
  return {
    post: {
      operationId: 'jobEnded',
      summary: 'a job has ended',
      description:
        'Sent to the callback_url at least once, possibly out of order. The signature is the HMAC-SHA256, keyed with the webhook secret, of the timestamp, the event id and the SHA-256 of the raw body in hexadecimal, joined with line feeds. Any 2xx within 5 seconds counts as delivered.',
      parameters: [
        header('Timestamp', 'Unix time in seconds', '^[0-9]{10}$'),
        header('Id', 'the event; the same for every attempt', EVENT_ID),
        header('Signature', 'lower-case hexadecimal HMAC-SHA256', '^[0-9a-f]{64}$'),
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: referenceTo('Event') } } },
      },
      responses: { '2XX': { description: 'delivered' } },
    },
  };
}
