/** Takes locks, slots and appends to logs as its standard input says: one line a command, one line an answer. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { openSharedLog } from '../../../src/journal/append-log.ts';
import { lockFolder } from '../../../src/journal/hold.ts';
import { type Lock, tryLock } from '../../../src/journal/lock.ts';
import { openSlots } from '../../../src/journal/slots.ts';

let held: Lock | null = null;
let grabbed = 0;

const COMMANDS: Record<string, (...values: string[]) => Promise<string>> = {
  async take(path = '') {
    const attempt = await tryLock(path);
    held = attempt.taken ? attempt.lock : null;
    return attempt.taken ? 'taken' : 'refused';
  },
  async enter(folder = '') {
    held = await lockFolder(folder);
    return 'entered';
  },
  async leave() {
    await held?.release();
    return 'left';
  },
  /** Each line comes with twice as many dead ones, so that the log is rewritten again and again. */
  async append(path = '', name = '', count = '') {
    const log = openSharedLog(path, (records) => [...records].filter(({ type }) => type === 'line'));
    const dead = { type: 'dead', text: 'x'.repeat(10_000) };
    for (let number = 0; number < Number(count); number += 1) {
      await log.append({ type: 'line', name, number }, dead, dead);
    }
    return 'appended';
  },
  /** Begins to take as many slots as there are, and keeps them. */
  async grab(folder = '', count = '') {
    const slots = openSlots(folder, Number(count));
    for (let number = 0; number < Number(count); number += 1) {
      slots.acquire().then(() => {
        grabbed += 1;
      });
    }
    return 'grabbing';
  },
  async grabbed() {
    return String(grabbed);
  },
  /** Many short works under a slot each; answers with the largest number at work at a time, all processes together. */
  async work(folder = '', count = '', works = '', atWork = '') {
    const slots = openSlots(folder, Number(count));
    let most = 0;
    const work = async (number: number) => {
      const slot = await slots.acquire();
      const sign = join(atWork, `${process.pid}-${number}`);
      mkdirSync(sign);
      most = Math.max(most, readdirSync(atWork).length);
      await delay(10);
      rmSync(sign, { recursive: true });
      await slot.release();
    };
    await Promise.all(Array.from({ length: Number(works) }, (_, number) => work(number)));
    return String(most);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name = '', ...values] = line.split(' ');
  process.stdout.write(`${await COMMANDS[name]?.(...values)}\n`);
}
