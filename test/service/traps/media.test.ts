/** Hostile media, uploaded to a service that is traced: none is accepted, and none makes it open or call anything. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { putObject } from '../harness/scene.ts';
import { layBait, makeTraps, type Trap } from './media-traps.ts';
import { CAN_TRACE, dialled, HOW, startTraced, type TracedService } from './traced-service.ts';

/** Twenty validations, one after the other, in a process that is traced. */
const PATIENCE_MS = 170_000;
/** Before a file's own date, an access is written down again even where most are not (`relatime`). */
const LONG_AGO = new Date(0);

let service: TracedService;
let bait: string;
let traps: Trap[];
/** Paths of what may not be opened: beside the traps that name it, and beside the uploads for the trap that names none. */
let canaries: string[];
let called = 0;
const listening = createServer((_request, response) => {
  called += 1;
  response.end();
});

beforeAll(async () => {
  service = await startTraced();
  bait = join(service.folder, 'bait');
  for (const folder of [bait, join(service.folder, 'made')]) mkdirSync(folder);
  layBait(bait);
  const sibling = join(service.closed.stateDir, 'uploads', 'segment.ts');
  copyFileSync(join(bait, 'segment.ts'), sibling);
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as AddressInfo; // a TCP server has one
  traps = makeTraps({ folder: bait, port }, join(service.folder, 'made'));
  canaries = [join(bait, 'canary.txt'), join(bait, 'segment.ts'), sibling];
  for (const canary of canaries) utimesSync(canary, LONG_AGO, new Date());
}, PATIENCE_MS);
afterAll(async () => {
  listening.close();
  await service.remove();
});

/** Uploads a trap under its name and returns the state after validation. */
async function validate({ name, bytes }: Trap): Promise<string> {
  const { caller } = service.closed;
  const reserved = await caller.post('/v1/uploads', {
    purpose: 'source_video',
    file_name: name,
    content_type: 'video/mp4',
    size_bytes: bytes.length,
  });
  const put = await putObject(reserved, bytes);
  await caller.post(`${reserved.json.detail_url}/completions`, { etag: put.headers.etag });
  for (;;) {
    const { json } = await caller.get(reserved.json.detail_url);
    if (json.status !== 'validating') return `${json.status} ${json.error?.code}`;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

test(`no trap is accepted, opens another file or connects to anything (${HOW})`, {
  timeout: PATIENCE_MS,
}, async () => {
  expect(traps.length).toBeGreaterThanOrEqual(13 + 5);
  const states: Record<string, string> = {};
  for (const trap of traps) states[trap.name] = await validate(trap);
  const refused = Object.fromEntries(traps.map(({ name }) => [name, 'failed MEDIA_VALIDATION_FAILED']));
  expect(states).toEqual(refused);
  const accessed = canaries.filter((canary) => statSync(canary).atimeMs !== LONG_AGO.getTime());
  expect([accessed, called]).toEqual([[], 0]);

  const calls = await service.finish();
  expect(calls.filter((call) => /canary\.txt|segment\.ts/.test(call))).toEqual([]);
  expect(dialled(calls)).toEqual([]);
  // That ffprobe was seen at work shows that the rest would have been seen too.
  const probed = calls.filter((call) => call.includes(join(service.closed.stateDir, 'uploads')));
  expect(probed.length > traps.length).toBe(CAN_TRACE);
});

test.runIf(CAN_TRACE)('traps are effective: without precautions ffprobe opens their targets', () => {
  const trap = join(service.folder, 'made', 'trap.mp4');
  writeFileSync(trap, traps[0]?.bytes ?? '');
  const log = join(service.folder, 'naive.log');
  spawnSync('strace', ['-f', '-qq', '-e', 'trace=?open,openat', '-o', log, 'ffprobe', trap]);
  expect(readFileSync(log, 'utf8')).toContain(join(bait, 'segment.ts'));
});
