/** Makes an operation answer with each declared status that a request can cause. */
import assert from 'node:assert/strict';
import { KINDS, type Operation, pathOf } from '../operations.ts';
import { adminOf, type ServiceUnderTest, shared } from '../service.ts';
import { freshToken, type Parts } from '../wire/caller.ts';
import { type Incoming, send } from '../wire/exchange.ts';
import { bodyFor, createdJob, finishedJob } from './jobs.ts';
import { goodSubtitleFile } from './subtitles.ts';
import { complete, mediaOf, reservationOf, reserve } from './uploads.ts';

/** 64 hexadecimal digits that are not a valid signature. */
export const WRONG_SIGNATURE: string = '0123456789abcdef'.repeat(4);

/** A minimal call, for checks that come before the id and the body: unknown id, empty body. */
export function bareCall(operation: Operation): Parts {
  const { method } = operation;
  return { method, path: pathOf(operation), ...(method === 'POST' ? { body: {} } : {}) };
}

/** Sends the same call with an invalid signature. */
export function callWithWrongSignature({ caller }: ServiceUnderTest, parts: Parts): Promise<Incoming> {
  const signed = caller.sign(parts);
  return send({ ...signed, headers: { ...signed.headers, [caller.names.signature]: WRONG_SIGNATURE } });
}

/** Credentials whose allow-list excludes this machine. 192.0.2.0/24 is reserved for documentation. */
const blockedKey = shared((service) => adminOf(service).issueKey({ allowedAddresses: ['192.0.2.0/24'] }));

/** A workspace with too few credits for the smallest job. */
const penniless: (service: ServiceUnderTest) => Promise<ServiceUnderTest> = shared((service) =>
  adminOf(service).open({ credits: 0.001 }),
);

/** A workspace whose key has used its only request of the hour. */
const rationed: (service: ServiceUnderTest) => Promise<ServiceUnderTest> = shared(async (service) => {
  const opened = await adminOf(service).open({ requests: 1 });
  await opened.caller.get('/credits');
  return opened;
});

/** A JSON body of more than 12 MiB. */
const OVERSIZED = Buffer.from(JSON.stringify({ padding: 'x'.repeat(12 * 1024 ** 2) }));

/** Makes the operation answer with this status. Fails the rule if no request can cause it. */
export async function provoke(
  service: ServiceUnderTest,
  operation: Operation,
  status: number,
): Promise<Incoming> {
  const { caller } = service;
  const bare = bareCall(operation);
  switch (status) {
    case 400:
      return operation.method === 'GET'
        ? caller.call({ ...bare, query: [['no_such_parameter', '1']] })
        : caller.call({ ...bare, body: Buffer.from('{"broken') });
    case 401:
      return callWithWrongSignature(service, bare);
    case 402:
      return createIn(await penniless(service), operation);
    case 403:
      return service.callerFor(await blockedKey(service)).call(bare);
    case 404:
      if (operation.id === 'completeUpload') {
        const { id } = await reserve(caller, goodSubtitleFile(service));
        return complete(caller, `${id.slice(0, -4)}0000`, 'a'.repeat(32));
      }
      // A valid body, so that only the id is wrong.
      return caller.call({ ...bare, ...(bare.body === undefined ? {} : { body: { etag: 'a'.repeat(32) } }) });
    case 409:
      return provokeConflict(service, operation);
    case 413:
      return provokeTooLarge(service, operation);
    case 422:
      return createFromUnready(service, operation);
    case 429:
      return (await rationed(service)).caller.call(bare);
  }
  assert.fail(`no request brings ${operation.id} to answer ${status}`);
}

async function createIn(service: ServiceUnderTest, { kind, path }: Operation): Promise<Incoming> {
  if (kind === null) assert.fail('only jobs cost credits');
  return service.caller.post(path, await bodyFor(service, kind));
}

async function provokeConflict(service: ServiceUnderTest, operation: Operation): Promise<Incoming> {
  const { caller } = service;
  const { id, kind, method } = operation;
  if (id === 'createUpload') {
    const key = freshToken();
    const body = reservationOf(goodSubtitleFile(service));
    await caller.post('/uploads', body, key);
    return caller.post('/uploads', { ...body, file_name: 'another.srt' }, key);
  }
  if (id === 'completeUpload') {
    const { id: uploadId } = await reserve(caller, goodSubtitleFile(service));
    return complete(caller, uploadId, 'a'.repeat(32));
  }
  if (kind === null) assert.fail(`${id} declares no conflict`);
  if (method === 'DELETE') return caller.remove((await finishedJob(service, kind)).path);
  const { body, idempotencyKey } = await createdJob(service, kind);
  return caller.post(KINDS[kind].path, { ...body, client_reference: 'another intent' }, idempotencyKey);
}

function provokeTooLarge({ caller }: ServiceUnderTest, operation: Operation): Promise<Incoming> {
  return caller.call({ method: 'POST', path: pathOf(operation), body: OVERSIZED });
}

/** Returns a create request whose upload has no bytes yet. */
async function createFromUnready(service: ServiceUnderTest, { kind, path }: Operation): Promise<Incoming> {
  if (kind === null) assert.fail('only jobs take uploads');
  const { input } = KINDS[kind];
  const file = input === 'video' ? mediaOf(service) : goodSubtitleFile(service);
  const { id } = await reserve(service.caller, file);
  return service.caller.post(path, bodyFromUpload(service, kind, id));
}

/** Returns a create request of the kind that uses this upload. */
export function bodyFromUpload(
  { languages }: ServiceUnderTest,
  kind: NonNullable<Operation['kind']>,
  uploadId: string,
): Record<string, unknown> {
  const input = { type: 'upload', upload_id: uploadId };
  const target = { target_language: languages.target };
  switch (kind) {
    case 'audio_separation':
    case 'subtitle_recognition':
      return { source: input };
    case 'auto_localization':
      return { source: input, ...target };
    case 'subtitle_translation':
      return { subtitle: input, source_language: languages.source, ...target };
    case 'dubbing':
      return { subtitle: input, ...target };
  }
}
