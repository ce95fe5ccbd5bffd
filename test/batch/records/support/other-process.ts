/** Takes locks and appends to logs as its standard input says: one line a command, one line an answer. */
import { createInterface } from 'node:readline';
import { openSharedLog } from '../../../../src/batch/records/append-log.ts';
import { lockFolder } from '../../../../src/batch/records/hold.ts';
import { type Lock, tryLock } from '../../../../src/batch/records/lock.ts';

let held: Lock | null = null;

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
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name = '', ...values] = line.split(' ');
  process.stdout.write(`${await COMMANDS[name]?.(...values)}\n`);
}
