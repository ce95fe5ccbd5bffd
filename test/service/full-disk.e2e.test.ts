/** A disk that is really full: a small tmpfs that only the service and its children see. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { audit } from '../torture/audit.ts';
import { makeWorld } from '../torture/world.ts';
import { type Caller, send } from './harness/caller.ts';
import { DUBBING, TRANSLATION, until, untilJob } from './harness/scene.ts';

const MIB = 1024 ** 2;
const PAGE = 4096;
const DAY_MS = 24 * 60 * 60_000;
/** Much less than a lease, which is also renewed while the disk is full. */
const STEP_MS = 2000;
/** Up to 25 jobs, one at a time. */
const PATIENCE_MS = 170_000;

/** Words that give a command mounts of its own: as root, or as a user who may make a namespace. */
function findUnshare(): readonly string[] | null {
  for (const words of [
    ['unshare', '-m'],
    ['unshare', '-Urm'],
  ] as const) {
    try {
      const [command, ...options] = words;
      execFileSync(command, [...options, 'mount', '-t', 'tmpfs', 'none', '/mnt'], { stdio: 'ignore' });
      return words;
    } catch {
      // The next one, or none.
    }
  }
  return null;
}

const unshare = findUnshare();

interface SmallDisk {
  readonly origin: string;
  readonly caller: Caller;
  /** The state folder, as it is seen from here. */
  readonly stateDir: string;
  /** Fills the disk but for so many bytes. */
  fill(leave: number): void;
  makeRoom(): void;
  /** Moves the time of the service on. */
  advance(ms: number): Promise<void>;
  /** What is wrong with the state, once no job is open. */
  audit(): Promise<readonly string[]>;
}

/**
 * Asks again and again until `done`, while the time of the service runs ten times as fast. It waits for room for seconds, and for the
 * next attempt too. Each signed request writes a nonce: asked as often as elsewhere, a disk would be full of them before the last attempt.
 */
async function untilLater<T>(
  disk: SmallDisk,
  ask: () => Promise<T>,
  done: (value: T) => boolean,
): Promise<T> {
  return until(async () => {
    await disk.advance(STEP_MS);
    await setTimeout(STEP_MS / 10);
    return ask();
  }, done);
}

/** A service of one worker on a disk of 32 MiB whose jobs make files of 8 MiB. */
async function startOnSmallDisk(skip: (note: string) => void): Promise<SmallDisk> {
  if (unshare === null) skip('neither root nor a user namespace may mount a disk on this machine');
  const outside = await makeWorld({ seed: 1 });
  onTestFinished(() => outside.close());
  const disk = join(outside.root, 'disk');
  mkdirSync(disk);
  const script = 'mount -t tmpfs -o size=32m none "$0" && exec "$@"';
  const orders = { stateDir: join(disk, 'state'), engines: 'bulky', workers: 1 } as const;
  const life = outside.start(orders, [...(unshare ?? []), 'sh', '-c', script, disk]);
  onTestFinished(() => life.kill());
  const voice = await life.ready;
  if (voice === null) throw new Error('the service did not start');
  const { origin, caller, pid } = voice;
  const seen = join(`/proc/${pid}/root`, disk);
  const [filler, stateDir] = [join(seen, 'filler'), join(seen, 'state')];
  return {
    origin,
    caller,
    stateDir,
    fill: (leave) => fill(filler, leave),
    makeRoom: () => rmSync(filler, { force: true }),
    advance: (ms) => life.advance(ms),
    async audit() {
      await until(
        () => caller.get('/v1/credits'),
        ({ json }) => json.reserved_credits === 0,
        PATIENCE_MS,
      );
      // SQLite does not open a file by way of another process, so it looks at a copy of what stands still.
      process.kill(pid, 'SIGSTOP');
      cpSync(stateDir, outside.stateDir, { recursive: true, filter: (path) => !path.endsWith('-shm') });
      audit(outside);
      return outside.book.violations;
    },
  };
}

function fill(path: string, leave: number): void {
  const file = openSync(path, 'a');
  const block = Buffer.alloc(MIB);
  try {
    for (;;) writeSync(file, block);
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' });
  }
  ftruncateSync(file, fstatSync(file).size - leave);
  closeSync(file);
}

function reserve(caller: Caller, bytes: Buffer) {
  const file = { purpose: 'subtitle_file', file_name: 'a.srt', content_type: 'text/plain' };
  return caller.post('/v1/uploads', { ...file, size_bytes: bytes.length });
}

test('a full disk fails the job that fills it, frees its credits, and harms no other', async ({ skip }) => {
  const disk = await startOnSmallDisk(skip);
  const { caller } = disk;
  disk.fill(4 * MIB);
  const dub = (await caller.post('/v1/dubbings', DUBBING)).json;
  const other = (await caller.post('/v1/subtitle-translations', TRANSLATION)).json;
  const failed = await untilLater(
    disk,
    async () => (await caller.get(dub.detail_url)).json,
    ({ status }) => status === 'failed' || status === 'succeeded',
  );
  expect(failed).toMatchObject({
    error: { code: 'STORAGE_ERROR', message: expect.stringContaining('free some space') },
    billing: { status: 'released', charged_credits: 0 },
  });
  expect((await untilJob(caller, other, 'succeeded')).billing.charged_credits).toBe(1);
  await until(() => readdirSync(join(disk.stateDir, 'work')).length === 0);

  const bytes = Buffer.alloc(6 * MIB, 'a');
  const { upload_request: target, id } = (await reserve(caller, bytes)).json;
  const put = () => send(target.url, { method: 'PUT', headers: target.headers, body: bytes });
  const refused = await put();
  expect([refused.status, refused.json.code]).toEqual([503, 'SERVICE_TEMPORARILY_UNAVAILABLE']);
  expect(refused.headers['retry-after']).toBe('60');
  expect(readdirSync(join(disk.stateDir, 'uploads'))).toEqual([]);

  disk.makeRoom();
  expect((await put()).status).toBe(200);
  expect((await caller.get(`/v1/uploads/${id}`)).json.status).toBe('waiting_for_upload');
  const again = (await caller.post('/v1/dubbings', DUBBING)).json;
  expect((await untilJob(caller, again, 'failed', 'succeeded')).status).toBe('succeeded');
  expect(await disk.audit()).toEqual([]);
});

test('a job waits while the disk has no room at all, and is done when there is room', async ({ skip }) => {
  const disk = await startOnSmallDisk(skip);
  const { caller } = disk;
  disk.fill(MIB);
  const dub = (await caller.post('/v1/dubbings', DUBBING)).json;
  const readiness = () => send(`${disk.origin}/readyz`);
  const full = 'the disk is full; no job is taken until there is room';
  // While a job fills the rest, no request can be written either.
  await until(readiness, ({ status, json }) => status === 200 && json.storage === full);
  disk.makeRoom();
  const read = async () => (await caller.get(dub.detail_url)).json;
  const ended = await untilLater(disk, read, ({ status }) => status === 'failed' || status === 'succeeded');
  expect(ended.status).toBe('succeeded');
  await untilLater(disk, readiness, (answer) => answer.json.storage === 'ok');
  expect(await disk.audit()).toEqual([]);
});

test('a disk without any room is reported wherever health is, but is no reason to restart: what has expired is removed from it', async ({
  skip,
}) => {
  const disk = await startOnSmallDisk(skip);
  const { caller } = disk;
  const list = (folder: string) => readdirSync(join(disk.stateDir, folder));
  const dub = (await caller.post('/v1/dubbings', DUBBING)).json;
  await untilJob(caller, dub, 'succeeded');
  const bytes = Buffer.alloc(MIB, 'a');
  const { upload_request: target } = (await reserve(caller, bytes)).json;
  expect((await send(target.url, { method: 'PUT', headers: target.headers, body: bytes })).status).toBe(200);

  const ask = async (path: string) => (await send(disk.origin + path)).status;
  const read = async () => (await send(`${disk.origin}/metrics`)).bytes.toString().split('\n');
  await until(async () => (await ask('/readyz')) === 200);
  expect(await read()).toEqual(expect.arrayContaining(['vloc_node_has_room 1', 'vloc_database_up 1']));
  disk.fill(0);
  await until(async () => (await ask('/readyz')) === 503);
  // The database is asked before the storage.
  const health = () => send(`${disk.origin}/healthz`);
  const full = 'the disk is full; no job is taken until there is room';
  const { status, json } = await until(health, (answer) => answer.json.storage === full);
  expect(status).toBe(503);
  expect(json).toMatchObject({ status: 'failing', database: 'the store cannot be written' });
  expect(await ask('/livez')).toBe(200);
  expect(await read()).toEqual(expect.arrayContaining(['vloc_node_has_room 0', 'vloc_database_up 0']));

  await disk.advance(8 * DAY_MS);
  await until(() => list('assets').length + list('uploads').length === 0);
  await until(async () => (await ask('/readyz')) === 200);
  await until(read, (lines) => lines.includes('vloc_node_has_room 1'));
  expect((await caller.get('/v1/credits')).status).toBe(200);
});

test('a store that cannot write refuses requests for now, leaves nothing half done, and continues once there is space', async ({
  skip,
}) => {
  const disk = await startOnSmallDisk(skip);
  const { caller } = disk;
  const intents: { key: string; body: object; status: number; id: string }[] = [];
  // From no page to more than a request needs, so that the disk ends within nonce, reservation, job and key.
  for (let pages = 0; pages <= 24; pages += 4) {
    disk.fill(pages * PAGE);
    const intent = { key: `intent-${pages}`, body: { ...TRANSLATION, client_reference: `intent-${pages}` } };
    const { status, json } = await caller.post('/v1/subtitle-translations', intent.body, intent.key);
    intents.push({ ...intent, status, id: json.id });
    if (status !== 202) {
      expect([status, json.code, json.retryable]).toEqual([503, 'SERVICE_TEMPORARILY_UNAVAILABLE', true]);
    }
    const read = await caller.get('/v1/credits');
    expect([200, 503]).toContain(read.status);
  }
  expect(intents.filter(({ status }) => status === 503).length).toBeGreaterThan(0);

  disk.makeRoom();
  for (const { key, body, status, id } of intents) {
    const reply = await until(
      () => caller.post('/v1/subtitle-translations', body, key),
      (answer) => answer.status !== 429,
    );
    expect(reply.status).toBe(202);
    expect(reply.headers['idempotency-replayed']).toBe(String(status === 202));
    if (status === 202) expect(reply.json.id).toBe(id);
  }
  expect(await disk.audit()).toEqual([]);
});
