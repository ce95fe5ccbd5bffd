/** Creates jobs and brings them to the state that a rule needs. */
import { expectStatus } from '../expect/answer.ts';
import { JOB_KINDS, type JobKind, KINDS } from '../operations.ts';
import { adminOf, type ServiceUnderTest, shared } from '../service.ts';
import { type Caller, freshToken } from '../wire/caller.ts';
import type { Incoming } from '../wire/exchange.ts';
import { isObject, textAt } from '../wire/json.ts';
import { linesIn } from './subtitles.ts';
import { prepared, readyVideo } from './uploads.ts';

export type Body = Readonly<Record<string, unknown>>;

const OPEN_STATUSES: readonly string[] = ['queued', 'processing'];

/** Returns true if a job will not change any more. */
export function hasEnded(job: Incoming): boolean {
  return !OPEN_STATUSES.includes(textAt(job.json, 'status'));
}

/** Returns a create request of the kind with its required fields. Video kinds use the ready upload of the run. */
export async function bodyFor(service: ServiceUnderTest, kind: JobKind): Promise<Body> {
  const { source, target } = service.languages;
  switch (kind) {
    case 'subtitle_translation':
      return {
        subtitle: { type: 'lines', lines: linesIn(source) },
        source_language: source,
        target_language: target,
      };
    case 'dubbing':
      return { subtitle: { type: 'lines', lines: linesIn(target) }, target_language: target };
    case 'audio_separation':
    case 'subtitle_recognition':
      return { source: await sourceOf(service) };
    case 'auto_localization':
      return { source: await sourceOf(service), target_language: target };
  }
}

async function sourceOf(service: ServiceUnderTest): Promise<Body> {
  const upload = await readyVideo(service);
  return { type: 'upload', upload_id: upload.id };
}

/** A created job. */
export interface Created {
  readonly id: string;
  readonly kind: JobKind;
  /** Below the base URL. */
  readonly path: string;
  readonly body: Body;
  readonly idempotencyKey: string;
  readonly answer: Incoming;
}

/** Creates a job. Default `body`: that of `bodyFor`. */
export async function create(
  service: ServiceUnderTest,
  kind: JobKind,
  options: { readonly body?: Body; readonly extra?: Body; readonly caller?: Caller } = {},
): Promise<Created> {
  const { caller = service.caller, extra = {} } = options;
  const body = { ...(options.body ?? (await bodyFor(service, kind))), ...extra };
  const idempotencyKey = freshToken();
  const answer = await service.until(
    'a slot for a job',
    () => caller.post(KINDS[kind].path, body, idempotencyKey),
    ({ json }) => !isObject(json) || json.code !== 'CONCURRENCY_LIMIT_EXCEEDED',
  );
  const id = textAt(prepared(answer, 202).json, 'id');
  return { id, kind, path: `${KINDS[kind].path}/${id}`, body, idempotencyKey, answer };
}

/** Creates a job only for its first answer, and cancels it so that it costs nothing. */
export async function createBriefly(
  ...[service, kind, options]: Parameters<typeof create>
): Promise<Created> {
  const created = await create(service, kind, options);
  expectStatus(await service.caller.remove(created.path), 202, 409);
  return created;
}

/** Waits until a job is in one of these states, or has ended. Returns its last answer. */
export function untilJob(
  service: ServiceUnderTest,
  job: Pick<Created, 'path'>,
  statuses: readonly string[] = [],
  caller: Caller = service.caller,
): Promise<Incoming> {
  return service.until(
    `the job ${job.path} to become ${statuses.join(' or ') || 'ended'}`,
    () => caller.get(job.path),
    (answer) => statuses.includes(textAt(answer.json, 'status')) || hasEnded(answer),
  );
}

export interface Finished extends Created {
  /** The GET that returned its final state. */
  readonly last: Incoming;
}

/** Creates a job and waits for its end. */
export async function finish(...[service, kind, options]: Parameters<typeof create>): Promise<Finished> {
  const created = await create(service, kind, options);
  return { ...created, last: await untilJob(service, created, [], options?.caller) };
}

/** The reference of the shared jobs. */
export const SHARED_REFERENCE = 'conformance shared job';

type Sharing<T> = Readonly<Record<JobKind, (service: ServiceUnderTest) => Promise<T>>>;

function shareEach<T>(make: (kind: JobKind) => (service: ServiceUnderTest) => Promise<T>): Sharing<T> {
  return {
    audio_separation: make('audio_separation'),
    subtitle_recognition: make('subtitle_recognition'),
    subtitle_translation: make('subtitle_translation'),
    dubbing: make('dubbing'),
    auto_localization: make('auto_localization'),
  };
}

const createdShared = shareEach((kind) =>
  shared((service) => create(service, kind, { extra: { client_reference: SHARED_REFERENCE } })),
);

const finishedShared = shareEach((kind) =>
  shared(async (service): Promise<Finished> => {
    const created = await createdShared[kind](service);
    return { ...created, last: await untilJob(service, created) };
  }),
);

/** Returns a job of the kind, created once for all rules. */
export function createdJob(service: ServiceUnderTest, kind: JobKind): Promise<Created> {
  return createdShared[kind](service);
}

/** Returns the same job after its end. */
export function finishedJob(service: ServiceUnderTest, kind: JobKind): Promise<Finished> {
  return finishedShared[kind](service);
}

/** Returns the kinds of jobs that this run can create. */
export function possibleKinds({ supplies }: ServiceUnderTest): readonly JobKind[] {
  return JOB_KINDS.filter((kind) => KINDS[kind].input === 'subtitle' || supplies.media !== null);
}

/** A workspace with media work that never ends by itself, one for all rules. */
const heldService = shared(async (service) => {
  const held = await adminOf(service).open();
  await adminOf(held).holdWork();
  return held;
});

export interface Lasting extends Created {
  /** The service that runs it. */
  readonly service: ServiceUnderTest;
}

/**
 * Creates a job that does not end soon. With control its work is held; else media work takes longer than the next
 * call.
 */
export async function startLasting(service: ServiceUnderTest, kind: JobKind): Promise<Lasting> {
  const place = service.admin === null ? service : await heldService(service);
  return { ...(await create(place, kind)), service: place };
}
