/** Just enough of a service for one job from upload to download, with a record of what it did. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { json, problem, type Reply, type ScriptedServer, type Seen } from './scripted-server.ts';
import { serveBytes } from './stored-bytes.ts';

export type Step =
  | 'createUpload'
  | 'put'
  | 'complete'
  | 'pollUpload'
  | 'createJob'
  | 'pollJob'
  | 'download'
  | 'cancel'
  | 'credits';

export interface MiniService {
  /** Jobs by Idempotency-Key: more than one is a double charge. */
  readonly jobs: Map<string, string>;
  /** Replaces the answers of one step until it is used up. */
  faults: { step: Step; replies: ((real: Reply, request: IncomingMessage) => Reply)[] };
  readonly result: Buffer;
}

const RESULT = Buffer.from('the localized video '.repeat(5_000));
/** Far beyond any clock of a test. */
const EXPIRES_AT = '2099-01-01T00:00:00.000Z';
const SHA256 = createHash('sha256').update(RESULT).digest('hex');

function stepOf(method: string, target: string): Step {
  if (method === 'PUT') return 'put';
  if (method === 'DELETE') return 'cancel';
  if (target.startsWith('/files')) return 'download';
  if (target.endsWith('/completions')) return 'complete';
  if (target === '/v1/uploads') return 'createUpload';
  if (target.startsWith('/v1/uploads')) return 'pollUpload';
  if (target === '/v1/credits') return 'credits';
  return method === 'POST' ? 'createJob' : 'pollJob';
}

export function serveAll(server: ScriptedServer): MiniService {
  const service: MiniService = { jobs: new Map(), faults: { step: 'credits', replies: [] }, result: RESULT };
  const uploads = new Map<string, string>();
  const stored = new Set<string>();
  const polled = new Map<string, number>();
  const idFor = (keys: Map<string, string>, seen: Seen, prefix: string) => {
    const key = String(seen.headers['idempotency-key']);
    const id = keys.get(key) ?? `${prefix}_${keys.size + 1}`;
    keys.set(key, id);
    return id;
  };
  /** The second look finds it done. */
  const statusOf = (target: string, done: string, before: string) => {
    const looks = (polled.get(target) ?? 0) + 1;
    polled.set(target, looks);
    return looks > 1 ? done : before;
  };
  const pass =
    (make: (seen: Seen) => Reply): Reply =>
    (seen, response, request) =>
      make(seen)(seen, response, request);

  const steps: Record<Step, Reply> = {
    createUpload: pass((seen) => {
      const id = idFor(uploads, seen, 'upl');
      const upload_request = { url: `${server.origin}/storage/${id}` };
      return json(201, { id, status: 'waiting_for_upload', upload_request });
    }),
    put: (seen, response) => {
      stored.add(seen.target.split('/')[2] ?? '');
      response.writeHead(200, { etag: `"${createHash('md5').update(seen.body).digest('hex')}"` });
      response.end();
    },
    complete: pass((seen) => {
      const id = seen.target.split('/')[3] ?? '';
      return stored.has(id)
        ? json(202, { id, status: 'validating' })
        : problem(409, 'UPLOAD_STATE_CONFLICT', false);
    }),
    pollUpload: pass(({ target }) =>
      json(200, { id: target.split('/')[3], status: statusOf(target, 'ready', 'validating') }),
    ),
    createJob: pass((seen) => json(202, { id: idFor(service.jobs, seen, 'loc'), status: 'queued' })),
    pollJob: pass(({ target }) => {
      const video = { url: '/files/1', size_bytes: RESULT.length, sha256: SHA256, expires_at: EXPIRES_AT };
      const id = target.split('/')[3];
      return json(200, { id, status: statusOf(target, 'succeeded', 'processing'), result: { video } });
    }),
    download: serveBytes(RESULT, '"v"'),
    cancel: pass(({ target }) => json(202, { id: target.split('/')[3], status: 'cancelled' })),
    credits: json(200, { balance_credits: 1, reserved_credits: 0, available_credits: 1 }),
  };
  server.route = (method, target) => {
    const step = stepOf(method, target);
    const fault = step === service.faults.step ? service.faults.replies.shift() : undefined;
    const real = steps[step];
    return fault === undefined
      ? real
      : (seen, response, request) => fault(real, request)(seen, response, request);
  };
  return service;
}
