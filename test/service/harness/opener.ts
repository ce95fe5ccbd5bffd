/** A process that opens stores in new folders, each at the moment that its parent names. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Failure } from '../../../src/base/failure.ts';
import { openJobRecord } from '../../../src/batch/records/job-record.ts';
import { openBatchJournal } from '../../../src/batch/run/journal.ts';
import { openProfileStore } from '../../../src/profiles/store.ts';
import { openNonceMemory } from '../../../src/service/auth/nonces.ts';
import { prepareFolders } from '../../../src/service/folders.ts';
import { openStageStore } from '../../../src/service/stages/stage-store.ts';
import { openAccountStore } from '../../../src/service/store/open-account.ts';
import { ensureSecret } from '../../../src/service/store/store.ts';

export interface Order {
  readonly store: keyof typeof OPEN;
  readonly folder: string;
  /** No two openers of a folder have the same. */
  readonly name: string;
  /** ms since 1970 */
  readonly at: number;
}

/** Opens and uses one store, and returns what all openers of a folder must agree on. */
const OPEN = {
  async account({ folder }: Order) {
    const { folders } = await prepareFolders(folder);
    const store = openAccountStore(folders);
    const secret = await ensureSecret(store, 'links', randomBytes);
    await store.close();
    return secret.toString('hex');
  },
  async nonces({ folder, name, at }: Order) {
    const nonces = openNonceMemory(join(folder, 'nonces.sqlite'));
    const isNew = await nonces.remember('key', name, at);
    await nonces.close();
    return String(isNew);
  },
  async stages({ folder, name, at }: Order) {
    const stages = openStageStore(join(folder, 'stages'), join(folder, 'stages.sqlite'), 1_000_000);
    const isClaimed = stages.claim(name, name, at);
    stages.close();
    return String(isClaimed);
  },
  async profiles({ folder, name }: Order) {
    const profile = { name, base_url: 'https://api.example.com/v1', key: 'k' };
    const secret = { type: 'command' as const, command: 'true' };
    await openProfileStore(folder, () => {}).change((document) => ({
      ...document,
      profiles: [...document.profiles, { ...profile, secret }],
    }));
    return 'changed';
  },
  async jobs({ folder, name, at }: Order) {
    await openJobRecord(join(folder, 'state'), 'mine', () => at).add({
      id: name,
      kind: 'dubbing',
      created_at: new Date(at).toISOString(),
      client_reference: null,
      command: 'dub',
      inputs: ['one.srt'],
      output_folder: 'out',
    });
    return 'added';
  },
  /** Only one run may work on a batch: the others are told so. */
  async batch({ folder }: Order) {
    try {
      await (await openBatchJournal({ folder: join(folder, 'out') })).close();
    } catch (error) {
      if (!(error instanceof Failure) || error.facts.code !== 'BATCH_LOCKED') throw error;
    }
    return 'opened or locked';
  },
};

process.on('message', async (order: Order) => {
  // Waits without sleeping: a timer would be late by a different time in each process.
  while (Date.now() < order.at);
  try {
    process.send?.({ agreed: await OPEN[order.store](order) });
  } catch (error) {
    process.send?.({ error: String(error) });
  }
});
process.send?.('ready');
