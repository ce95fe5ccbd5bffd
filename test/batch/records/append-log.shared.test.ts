import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSharedLog, readLog } from '../../../src/batch/records/append-log.ts';
import { waitForLock } from '../../../src/batch/records/hold.ts';
import { startChild } from './support/child.ts';
import { newFolder } from './support/folder.ts';

describe('a log that several processes append to', () => {
  it('contains every record of each, in its order, though each of them rewrites it', async () => {
    const path = join(newFolder(), 'log');
    const names = ['a', 'b', 'c'];
    await Promise.all(names.map((name) => startChild().ask(`append ${path} ${name} 20`)));
    const { records, damage, torn } = await readLog(path);
    expect({ damage, torn }).toEqual({ damage: [], torn: 0 });
    // Twenty lines of three processes brought 1.2 MB of dead ones along.
    expect(statSync(path).size).toBeLessThan(900_000);
    for (const name of names) {
      const numbers = records.filter((record) => record.name === name).map((record) => record.number);
      expect(numbers).toEqual(Array.from({ length: 20 }, (_, number) => number));
    }
  });

  it('is not changed while another process has its mutex', async () => {
    const path = join(newFolder(), 'log');
    const held = await waitForLock(`${path}.lock`);
    const appended = openSharedLog(path, (records) => [...records]).append({ type: 'line' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(existsSync(path)).toBe(false);
    await held.release();
    await appended;
    expect((await readLog(path)).records).toEqual([{ type: 'line' }]);
  });

  it('loses its dead records when it has grown large', async () => {
    const path = join(newFolder(), 'log');
    const log = openSharedLog(path, (records) => [...records].slice(-1));
    const record = (number: number) => ({ type: 'line', number, text: 'x'.repeat(1_000) });
    await log.append(...Array.from({ length: 200 }, (_, number) => record(number)));
    expect(statSync(path).size).toBeGreaterThan(200_000);
    await log.append(...Array.from({ length: 100 }, (_, number) => record(200 + number)));
    expect((await log.read()).records).toEqual([record(299)]);
    await log.append(record(300));
    expect((await log.read()).records).toEqual([record(299), record(300)]);
  });
});
