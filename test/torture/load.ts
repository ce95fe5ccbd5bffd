/** Callers at work until the service is killed under them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Reply, send, signHeaders } from '../service/harness/caller.ts';
import { type Intent, TERMINAL } from './book.ts';
import type { Life, Voice } from './life.ts';
import { makeIntent, makeSrt } from './requests.ts';
import type { World } from './world.ts';

/** As many as keep a service of two cores busy without starving what it works on. */
const CALLERS = 4;
/** The death of a process is seen on its connections first. */
const DEATH_NOTICE_MS = 5000;

/** A caller looks after something else when an upload takes longer than this to be looked at. */
const VALIDATION_MS = 2000;

/** Runs callers until the life ends; their answers are recorded in the book. */
export async function runLoad(world: World, life: Life, voice: Voice): Promise<void> {
  await Promise.all(Array.from({ length: CALLERS }, () => runCaller(world, life, voice)));
}

async function runCaller(world: World, life: Life, voice: Voice): Promise<void> {
  while (!life.over()) {
    try {
      world.book.counts.requests += 1;
      await world.random.pick(ACTIONS)(world, life, voice);
      await sleep(world.random.between(1, 20));
    } catch (error) {
      await Promise.race([life.ended, sleep(DEATH_NOTICE_MS, undefined, { ref: false })]);
      if (!life.over()) world.book.violations.push(`a request failed while the service lived: ${error}`);
    }
  }
}

type Action = (world: World, life: Life, voice: Voice) => Promise<void>;

/** Each as often as it is listed here. */
const ACTIONS: readonly Action[] = [create, create, create, create, poll, poll, cancel, upload, replay, list];

async function create(world: World, _life: Life, voice: Voice): Promise<void> {
  await submit(world, voice, makeIntent(world));
}

/** Sends a create request and records the answer; returns the reply. */
export async function submit({ book }: World, { caller }: Voice, intent: Intent): Promise<Reply> {
  book.unanswered.set(intent.key, intent);
  const reply = await caller.post(intent.path, intent.body, intent.key);
  const { status, json } = reply;
  if (status === 202) {
    const earlier = book.accepted.get(json.id);
    book.accepted.set(
      json.id,
      earlier ?? { id: json.id, intent, detailUrl: json.detail_url, seen: null, cancelled: false },
    );
  } else if (status !== 429 && status < 500) {
    book.violations.push(`a create request was answered with ${status}: ${reply.bytes}`);
  }
  if (status < 500) book.unanswered.delete(intent.key);
  return reply;
}

async function poll({ book, random }: World, _life: Life, { caller }: Voice): Promise<void> {
  if (book.accepted.size === 0) return;
  const job = random.pick([...book.accepted.values()].slice(-50));
  const { status, json } = await caller.get(job.detailUrl);
  if (status >= 500) return;
  if (status !== 200) book.violations.push(`${job.id} was accepted, and reading it gives ${status}`);
  else if (job.seen !== null && job.seen !== json.status) {
    book.violations.push(`${job.id} was ${job.seen} and became ${json.status}`);
  } else if (TERMINAL.includes(json.status)) job.seen = json.status;
}

async function cancel({ book, random }: World, _life: Life, { caller }: Voice): Promise<void> {
  const open = [...book.accepted.values()].slice(-20).filter(({ seen }) => seen === null);
  if (open.length === 0) return;
  const job = random.pick(open);
  const { status } = await caller.delete(job.detailUrl);
  if (status === 202) {
    job.cancelled = true;
    book.counts.cancels += 1;
  } else if (status !== 409 && status < 500) {
    book.violations.push(`${job.id} was accepted, and cancelling it gives ${status}`);
  }
}

async function upload(world: World, life: Life, { caller }: Voice): Promise<void> {
  const { random, book, clip } = world;
  const purpose = random.pick(['source_video', 'subtitle_file'] as const);
  const bytes = purpose === 'source_video' ? clip : makeSrt(random.between(1, 9));
  const request = { purpose, file_name: 'a', content_type: 'video/mp4', size_bytes: bytes.length };
  const reserved = await caller.post('/v1/uploads', request);
  if (reserved.status !== 201) return;
  const { id, upload_request: target } = reserved.json;
  const { headers } = await send(target.url, { method: target.method, headers: target.headers, body: bytes });
  await caller.post(`/v1/uploads/${id}/completions`, { etag: String(headers.etag) });
  const giveUpAt = Date.now() + VALIDATION_MS;
  while (!life.over() && Date.now() < giveUpAt) {
    const { json } = await caller.get(`/v1/uploads/${id}`);
    if (json.status === 'failed') book.violations.push(`an upload failed: ${JSON.stringify(json.error)}`);
    if (json.status === 'ready') book.uploads[purpose === 'source_video' ? 'source' : 'subtitle'].push(id);
    if (json.status === 'failed' || json.status === 'ready') return;
    await sleep(20);
  }
}

/** A request that a caller sends again, since it does not know any more that it was answered. */
async function replay(world: World, _life: Life, voice: Voice): Promise<void> {
  const { book, random } = world;
  if (book.accepted.size === 0) return;
  await replayOne(world, voice, random.pick([...book.accepted.keys()].slice(-50)));
}

/** Sends an accepted request once more: it must lead to the same job. */
export async function replayOne({ book }: World, { caller }: Voice, id: string): Promise<void> {
  const job = book.accepted.get(id);
  if (job === undefined) return;
  const { status, json, headers } = await caller.post(job.intent.path, job.intent.body, job.intent.key);
  if (status >= 500) return;
  book.counts.replays += 1;
  if (status !== 202 || json.id !== id || headers['idempotency-replayed'] !== 'true') {
    book.violations.push(`the key of ${id} gave ${status} ${json.id}`);
  }
}

/** Reads with a signature that is kept, to be tried again after the kill. */
async function list({ book, random }: World, life: Life, { origin, credentials }: Voice): Promise<void> {
  const path = random.pick(['/v1/credits', '/v1/dubbings', '/v1/uploads']);
  const headers = signHeaders(credentials, { method: 'GET', path, body: '', nowMs: life.now() });
  const { status } = await send(origin + path, { headers });
  if (status === 200) book.spent.push({ path, headers });
}
