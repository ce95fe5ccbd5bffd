import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openAppendLog } from '../../../src/batch/records/append-log.ts';
import { foldIntents } from '../../../src/batch/records/intents.ts';
import { encodeRecords } from '../../../src/batch/records/record-line.ts';
import { newFolder } from './support/folder.ts';
import { RECORDS } from './support/intents.ts';

describe('a log', () => {
  it('of 100,000 records is read and understood in two seconds of CPU time', async () => {
    const path = join(newFolder(), 'log');
    const numbers = Array.from({ length: 100_000 }, (_, number) => number);
    writeFileSync(path, encodeRecords(numbers.map((number) => RECORDS.intend({ key: `key-${number}` }))));
    // Processor time, since the clock on the wall counts what else the machine does.
    const before = process.cpuUsage();
    const { log, content } = await openAppendLog(path);
    const { byKey } = foldIntents(content.records);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(2_000);
    expect(byKey.size).toBe(100_000);
    await log.close();
  });
});
