import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { BatchEvent } from '../../../src/batch/item.ts';
import { openBatchJournal } from '../../../src/batch/run/journal.ts';
import { createClient } from '../../../src/client/index.ts';
import { SYSTEM_RUNTIME } from '../../../src/client/runtime.ts';
import { type FarService, startFarService } from './simulation/far-service.ts';
import { createVirtualTime, type VirtualTime } from './simulation/virtual-time.ts';
import { videoItem } from './support/items.ts';
import { openBatch } from './support/open-batch.ts';
import { runInFolder } from './support/run-in-folder.ts';

const SLOTS = 4;
const ITEMS = 6;
const CREDENTIALS = { key: 'vk_simulated', secret: 'only for this run' };

/** A batch on a machine of its own: nothing but the service is shared with the others. */
async function openMachine(far: FarService, time: VirtualTime, folder: string, index: number) {
  const name = `machine-${index}`;
  const own = join(folder, name);
  await mkdir(own);
  const paths = Array.from({ length: ITEMS }, (_, place) => join(own, `${name}-${place}.mp4`));
  for (const path of paths) await writeFile(path, `\0\0\0\x18ftypisom ${path}`);
  const { baseUrl } = far;
  const runtime = { ...SYSTEM_RUNTIME, now: time.now, sleep: time.sleep };
  const places = { stateDir: join(own, 'state'), out: join(own, 'out') };
  const items = paths.map((path) => videoItem(path, 'es'));
  const batch = openBatch({ baseUrl, credentials: CREDENTIALS, ...places, items });
  const delivery = { ...batch.delivery, shard: { index, count: 3 } };
  const client = createClient({ baseUrl, ...CREDENTIALS, runtime });
  const full = Promise.withResolvers<void>();
  const listen = (event: BatchEvent) => {
    if (event.type === 'window' && event.inFlight >= SLOTS) full.resolve();
  };
  return {
    /** When this machine has all slots. */
    hasAll: full.promise,
    run: () =>
      runInFolder({
        ...batch,
        delivery,
        connection: { client, everyMs: null, readProvenance: async () => null },
        runtime,
        listen,
      }),
    requests: async () => {
      const journal = await openBatchJournal(delivery);
      return journal.close().then(() => journal.intents.byKey.size);
    },
    close: () => client.close(),
  };
}

test('machines that share only the service wait for its slots: none fails, and nothing is sent twice', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vloc-shards-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const time = createVirtualTime(Date.now());
  const work = { count: 3 * ITEMS, medianMs: 120_000, progress: 'staged', seed: 1 } as const;
  const far = await startFarService({ ...work, slots: SLOTS }, time);
  const [first, second, third] = [
    await openMachine(far, time, folder, 1),
    await openMachine(far, time, folder, 2),
    await openMachine(far, time, folder, 3),
  ];
  const later = first.hasAll.then(() => Promise.all([second.run(), third.run()]));
  const outcomes = (await time.run(Promise.all([first.run(), later]))).flat(2);

  expect(outcomes.map(({ state }) => state.phase)).toEqual(Array.from({ length: 3 * ITEMS }, () => 'done'));
  const { jobs, counts } = await far.report();
  expect(jobs).toHaveLength(3 * ITEMS);
  expect(counts.refusals).toBeGreaterThan(0);
  // A refused request is sent again with the same Idempotency-Key, so each item has one.
  expect(await Promise.all([first, second, third].map((each) => each.requests()))).toEqual([
    ITEMS,
    ITEMS,
    ITEMS,
  ]);
  for (const each of [first, second, third]) await each.close();
  await far.close();
}, 180_000);
