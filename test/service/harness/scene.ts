/** A service in a folder of its own, with what a test needs to talk to it. */
import { onTestFinished } from 'vitest';
import { createMovableClock, type MovableClock } from '../../../src/service/control/clock.ts';
import {
  createService,
  type LogEntry,
  type Service,
  type ServiceOptions,
} from '../../../src/service/index.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { type Caller, type Credentials, createCaller, exchange, type Reply, send } from './caller.ts';
import { answerSparsely, currentProfile } from './profiles.ts';
import { createSmallEngines, type SmallEngines, videoOf } from './small-engines.ts';

export interface Scene {
  readonly service: Service;
  readonly clock: MovableClock;
  readonly engines: SmallEngines;
  readonly stateDir: string;
  readonly logged: LogEntry[];
  readonly credentials: Credentials;
  readonly caller: Caller;
  /** A caller with another key. */
  callerFor(credentials: Credentials): Caller;
}

/** Lines of subtitles as the source of a job that needs no upload. */
export const LINES = {
  type: 'lines',
  lines: [{ index: 1, start_ms: 0, end_ms: 1000, text: 'hello' }],
};
/** Jobs that the small engines finish immediately, for a credit each. */
export const DUBBING = { subtitle: LINES, target_language: 'es' };
export const TRANSLATION = { ...DUBBING, source_language: 'en' };
/** Where translations are created. */
export const NEW_JOB = '/v1/subtitle-translations';

/** Starts a service that ends with the test. */
export async function startScene(options: Partial<ServiceOptions> = {}): Promise<Scene> {
  const scene = await openScene({ ...options, stateDir: options.stateDir ?? makeFolder() });
  onTestFinished(() => scene.service.close());
  return scene;
}

/** Starts a service for several tests; the caller closes it. */
export async function openScene(options: Partial<ServiceOptions> & Pick<Scene, 'stateDir'>): Promise<Scene> {
  const clock = createMovableClock();
  const engines = createSmallEngines();
  const logged: LogEntry[] = [];
  const isSparse = currentProfile() === 'minimal';
  const given = {
    ...{ clock, engines, log: (entry: LogEntry) => logged.push(entry), ...options },
    ...(isSparse ? { faults: answerSparsely(options.faults) } : {}),
  };
  const service = await createService(given);
  const [credentials] = await service.keys();
  if (credentials === undefined) throw new Error('the service has no key');
  const callerFor = (other: Credentials) =>
    createCaller(service.url, other, (given.clock ?? clock).now, isSparse ? exchange : send);
  return {
    service,
    clock,
    engines,
    stateDir: options.stateDir,
    logged,
    credentials,
    caller: callerFor(credentials),
    callerFor,
  };
}

/** A process that starts on a busy machine takes seconds; still less than the limit of a test, which would not say why. */
const PATIENCE_MS = 170_000;

/** Asks again and again until `done`, by default until it is true, less often what takes long; fails after `patienceMs`. */
export async function until<T>(
  ask: () => Promise<T> | T,
  done: (value: T) => boolean = Boolean,
  patienceMs = PATIENCE_MS,
): Promise<T> {
  const giveUpAt = Date.now() + patienceMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 1.2, 50)) {
    const value = await ask();
    if (done(value)) return value;
    if (Date.now() > giveUpAt) throw new Error(`it did not come about: ${ask} is ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Reserves an upload and sends its bytes; returns the upload's id and the ETag. */
export async function sendUpload(
  caller: Caller,
  bytes: Buffer,
  purpose: 'source_video' | 'subtitle_file' = 'source_video',
): Promise<{ id: string; etag: string }> {
  const reserved = await caller.post('/v1/uploads', {
    purpose,
    file_name: 'a.bin',
    content_type: 'application/octet-stream',
    size_bytes: bytes.length,
  });
  const put = await putObject(reserved, bytes);
  return { id: reserved.json.id, etag: String(put.headers.etag) };
}

export function putObject(reserved: Reply, bytes: Buffer): Promise<Reply> {
  const { url, method, headers } = reserved.json.upload_request ?? reserved.json.direct_upload;
  return send(url, { method, headers: { ...headers, 'Content-Length': String(bytes.length) }, body: bytes });
}

/** Completes an upload; returns its last state. */
export async function finishUpload(
  caller: Caller,
  bytes: Buffer,
  purpose: 'source_video' | 'subtitle_file' = 'source_video',
): Promise<Reply['json']> {
  const { id, etag } = await sendUpload(caller, bytes, purpose);
  await caller.post(`/v1/uploads/${id}/completions`, { etag });
  return untilValidated(caller, id);
}

/** Waits until an upload is validated; returns its state. */
export async function untilValidated(caller: Caller, id: string): Promise<Reply['json']> {
  const last = await until(
    () => caller.get(`/v1/uploads/${id}`),
    ({ json }) => json.status !== 'validating',
  );
  return last.json;
}

/** A ready video of that many seconds, as the source of a create request. */
export async function readySource(
  caller: Caller,
  seconds = 60,
): Promise<{ type: 'upload'; upload_id: string }> {
  const upload = await finishUpload(caller, videoOf(seconds));
  return { type: 'upload', upload_id: upload.id };
}

/** Waits until a job is in one of these states; returns the job. */
export async function untilJob(
  caller: Caller,
  job: Reply['json'],
  ...states: string[]
): Promise<Reply['json']> {
  const reply = await until(
    () => caller.get(job.detail_url),
    ({ json }) => states.includes(json.status),
  );
  return reply.json;
}
