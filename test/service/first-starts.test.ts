/** Several first starts on one new folder at the same instant. FIRST_START_ROUNDS: how often, by default a short sample. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { openJobRecord } from '../../src/batch/records/job-record.ts';
import { makeFolder } from '../support/make-folder.ts';
import type { Order } from './harness/opener.ts';

const ROUNDS = Number(process.env.FIRST_START_ROUNDS ?? 3);
const OPENERS = ['one', 'two', 'three'];
/** Longer than it takes to send the order to all openers. */
const LEAD_MS = 20;

let openers: ChildProcess[] = [];
beforeAll(async () => {
  openers = OPENERS.map(() => fork(join(import.meta.dirname, 'harness/opener.ts')));
  await Promise.all(openers.map((opener) => once(opener, 'message')));
  return () => {
    for (const opener of openers) opener.kill('SIGKILL');
  };
});

interface Answer {
  readonly agreed?: string;
  readonly error?: string;
}

async function openTogether(store: Order['store'], folder: string): Promise<Answer[]> {
  const at = Date.now() + LEAD_MS;
  return Promise.all(
    openers.map(async (opener, index) => {
      const answer = once(opener, 'message');
      opener.send({ store, folder, at, name: OPENERS[index] ?? '' } satisfies Order);
      const [received]: Answer[] = await answer;
      return received ?? {};
    }),
  );
}

/** Checks what the three opens left in the folder. */
const CHECKS: Partial<Record<Order['store'], (folder: string) => Promise<void>>> = {
  async profiles(folder) {
    const { profiles } = JSON.parse(await readFile(join(folder, 'profiles.json'), 'utf8'));
    expect(profiles.map(({ name }: { name: string }) => name).sort()).toEqual([...OPENERS].sort());
  },
  async jobs(folder) {
    const found = await openJobRecord(join(folder, 'state'), 'mine', Date.now).list();
    expect(found.map(({ id }) => id).sort()).toEqual([...OPENERS].sort());
  },
};

test.each<Order['store']>(['account', 'nonces', 'stages', 'profiles', 'jobs', 'batch'])(
  'three processes that open a new store of %s at the same instant all can use it',
  async (store) => {
    const failures: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const folder = makeFolder();
      const answers = await openTogether(store, folder);
      const failed = answers.flatMap(({ error }) => error ?? []);
      failures.push(...failed);
      if (failed.length > 0) continue;
      expect(new Set(answers.map(({ agreed }) => agreed)).size).toBe(1);
      await CHECKS[store]?.(folder);
    }
    expect(failures).toEqual([]);
  },
  Math.max(60_000, ROUNDS * 2000),
);
