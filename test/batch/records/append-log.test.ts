import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import {
  compactFile,
  openAppendLog,
  readCountedLog,
  readLog,
} from '../../../src/batch/records/append-log.ts';
import { openLogFile } from '../../../src/batch/records/log-file.ts';
import { encodeRecords } from '../../../src/batch/records/record-line.ts';
import { newFolder } from './support/folder.ts';

const line = (number: number) => ({ type: 'line', number });
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe('a log', () => {
  it('returns what was appended, in order, also to the next process', async () => {
    const path = join(newFolder(), 'log');
    const { log, content } = await openAppendLog(path);
    expect(content).toEqual({ records: [], damage: [], torn: 0, last: 0 });
    await log.append(line(1), line(2));
    await log.append({ type: 'text', text: 'ä\n\u2028"\ud83d\0' });
    expect((await readLog(path)).records).toEqual([
      line(1),
      line(2),
      { type: 'text', text: 'ä\n\u2028"\ud83d\0' },
    ]);
    await log.close();
    const again = await openAppendLog(path);
    expect(again.content.records).toHaveLength(3);
    await again.log.append(line(3));
    await again.log.close();
    expect((await readLog(path)).records.at(-1)).toEqual(line(3));
  });

  it('that does not exist reads as empty, and is not created by reading', async () => {
    const path = join(newFolder(), 'none', 'log');
    expect(await readLog(path)).toEqual({ records: [], damage: [], torn: 0, last: 0 });
    expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
  });

  it('keeps the order of appends that were not waited for', async () => {
    const path = join(newFolder(), 'log');
    const { log } = await openAppendLog(path);
    const numbers = Array.from({ length: 200 }, (_, number) => number);
    await Promise.all(numbers.map((number) => log.append(line(number))));
    await log.close();
    expect((await readLog(path)).records).toEqual(numbers.map(line));
  });

  it.each([
    ['a symbolic link', (path: string) => symlinkSync('/dev/null', path), 'it is a symbolic link'],
    ['a folder', (path: string) => mkdirSync(path), 'it is a folder'],
  ])('is not written through %s', async (_what, put, reason) => {
    const path = join(newFolder(), 'log');
    put(path);
    const failure = await openAppendLog(path).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Failure);
    expect(failure).toMatchObject({ facts: { category: 'disk', code: 'DISK_ERROR' } });
    expect(String(failure)).toContain(reason);
  });
});

describe('a torn record', () => {
  it('is skipped by readers and cut off by the next writer', async () => {
    const path = join(newFolder(), 'log');
    const { log } = await openAppendLog(path);
    await log.append(line(1));
    await log.close();
    const whole = readFileSync(path);
    // Longer than what is searched at a time, so that the search has to continue.
    const torn = Buffer.alloc(150_000, 'x');
    await appendFile(path, torn);
    expect(await readLog(path)).toEqual({ records: [line(1)], damage: [], torn: torn.length, last: 1 });
    expect(statSync(path).size).toBe(whole.length + torn.length);
    const next = await openAppendLog(path);
    expect(next.content).toEqual({ records: [line(1)], damage: [], torn: torn.length, last: 1 });
    expect(readFileSync(path)).toEqual(whole);
    await next.log.append(line(2));
    await next.log.close();
    expect((await readLog(path)).records).toEqual([line(1), line(2)]);
  });
});

describe('compaction', () => {
  it('drops dead records when they are the larger part, and later appends follow', async () => {
    const path = join(newFolder(), 'log');
    const { log } = await openAppendLog(path);
    for (let number = 0; number < 10; number += 1) await log.append(line(number));
    const compacted = log.compact((records) => [...records].slice(-2));
    const appended = log.append(line(10));
    expect(await compacted).toBe(true);
    await appended;
    await log.close();
    expect((await readLog(path)).records).toEqual([line(8), line(9), line(10)]);
  });

  it('does not change a log that is mostly alive', async () => {
    const path = join(newFolder(), 'log');
    const { log } = await openAppendLog(path);
    await log.append(line(1), line(2));
    const { ino } = statSync(path);
    expect(await log.compact((records) => [...records].slice(1))).toBe(false);
    expect(statSync(path).ino).toBe(ino);
    await log.close();
  });

  it('does not change a log of which just half is dead', async () => {
    const path = join(newFolder(), 'log');
    const { log } = await openAppendLog(path);
    await log.append(line(1), line(2), line(3), line(4));
    expect(await log.compact((records) => [...records].slice(2))).toBe(false);
    expect(await log.compact((records) => [...records].slice(3))).toBe(true);
    await log.close();
    expect((await readLog(path)).records).toEqual([line(4)]);
  });

  it('sees records appended after the log was opened, and those of an earlier compaction', async () => {
    const path = join(newFolder(), 'log');
    const first = await openAppendLog(path);
    await first.log.append(line(1), line(2), line(3));
    await first.log.close();
    const { log } = await openAppendLog(path);
    const seen: unknown[][] = [];
    const pick = (keep: number) => (records: Iterable<{ readonly type: string }>) => {
      const all = [...records];
      seen.push(all);
      return all.slice(-keep);
    };
    await log.compact(pick(2));
    await log.append(line(4));
    await log.compact(pick(1));
    await log.compact(pick(1));
    await log.close();
    expect(seen).toEqual([[line(1), line(2), line(3)], [line(1), line(2), line(3), line(4)], [line(4)]]);
  });

  it('of the bytes of a file needs no open log', async () => {
    const path = join(newFolder(), 'log');
    const file = await openLogFile(path);
    await file.append(encodeRecords([line(1), line(2), line(3), line(4)]));
    expect(await compactFile(file, (records) => [...records].slice(2))).toBe(false);
    expect(await compactFile(file, (records) => [...records].slice(3))).toBe(true);
    expect(await file.read()).toEqual(encodeRecords([line(4)]));
    await file.close();
  });

  it('is not confused by the draft of an interrupted one', async () => {
    const path = join(newFolder(), 'log');
    writeFileSync(`${path}.new`, 'half a line', { mode: 0o644 });
    const { log } = await openAppendLog(path);
    await log.append(line(1), line(2), line(3));
    expect(await log.compact((records) => [...records].slice(-1))).toBe(true);
    await log.close();
    expect((await readLog(path)).records).toEqual([line(3)]);
    expect(mode(path)).toBe('600');
  });
});

describe('a damaged log', () => {
  /** Three records, without the middle one. */
  async function writeDamaged() {
    const path = join(newFolder(), 'log');
    const { log } = await openAppendLog(path);
    await log.append(line(1));
    const { size: first } = statSync(path);
    await log.append(line(2));
    const { size: second } = statSync(path);
    await log.append(line(3));
    await log.close();
    const whole = readFileSync(path);
    const damaged = Buffer.concat([whole.subarray(0, first), whole.subarray(second)]);
    writeFileSync(path, damaged);
    return { path, damaged, first };
  }

  it('is copied byte by byte, and a record in its place says what was found', async () => {
    const { path, damaged, first } = await writeDamaged();
    const { log, content } = await openAppendLog(path);
    const note = {
      type: 'log_damaged',
      places: [`${path} is damaged at byte ${first}: records are missing there, all others are kept`],
      kept: 'log.damaged-1',
    };
    expect(content.records).toEqual([line(1), line(3), note]);
    expect(content.damage).toHaveLength(1);
    expect(readFileSync(`${path}.damaged-1`)).toEqual(damaged);
    expect(mode(`${path}.damaged-1`)).toBe('600');
    await log.append(line(4));
    await log.close();
    expect(await readCountedLog(path)).toMatchObject({
      records: [line(1), line(3), note, line(4)],
      damage: [],
    });
  });

  it('that is damaged again is copied again', async () => {
    const { path } = await writeDamaged();
    await (await openAppendLog(path)).log.close();
    writeFileSync(path, '');
    const { log, content } = await openAppendLog(path);
    await log.close();
    expect(content.records).toEqual([
      expect.objectContaining({ type: 'log_damaged', kept: 'log.damaged-2' }),
    ]);
    expect(readFileSync(`${path}.damaged-2`)).toHaveLength(0);
  });

  it('that cannot be copied is not changed', async () => {
    // With the added suffix, the name of the copy is longer than a file system allows.
    const path = join(newFolder(), 'n'.repeat(248));
    const { log } = await openAppendLog(path);
    await log.append(line(1), line(2));
    await log.close();
    const damaged = readFileSync(path).subarray(3);
    writeFileSync(path, damaged);
    await expect(openAppendLog(path)).rejects.toThrow(Failure);
    expect(readFileSync(path)).toEqual(damaged);
  });

  it('counts from the last line that was ever written, not from the last remaining one', async () => {
    const path = join(newFolder(), 'log');
    const { log } = await openAppendLog(path);
    for (const number of [1, 2, 3]) await log.append(line(number));
    await log.close();
    const whole = readFileSync(path);
    writeFileSync(path, whole.subarray(0, whole.indexOf('\n') + 1));
    const again = await openAppendLog(path);
    await again.log.close();
    // The three that were written, the first line of the new file, the record that is left, and the note.
    expect((await readCountedLog(path)).last).toBe(6);
  });

  it('that was deleted is reported', async () => {
    const { path } = await writeDamaged();
    rmSync(path);
    expect((await readCountedLog(path)).damage).toEqual([{ kind: 'missing', offset: 0, length: 0 }]);
    const { log, content } = await openAppendLog(path);
    await log.close();
    expect(content.records).toEqual([expect.objectContaining({ type: 'log_damaged', kept: null })]);
  });

  it('is whole after a compaction, but a damaged count is still reported', async () => {
    const { path } = await writeDamaged();
    const { log } = await openAppendLog(path);
    expect(await log.compact((records) => [...records].slice(-1))).toBe(true);
    await log.close();
    expect((await readCountedLog(path)).damage).toEqual([]);
    truncateSync(`${path}.head`, 5);
    expect((await readCountedLog(path)).damage).toEqual([{ kind: 'head', offset: 0, length: 0 }]);
  });

  it('is reported while another process appends, only if it is damaged', async () => {
    const path = join(newFolder(), 'log');
    const { log } = await openAppendLog(path);
    for (let number = 0; number < 50; number += 1) {
      const appended = log.append(line(number));
      expect((await readCountedLog(path)).damage).toEqual([]);
      await appended;
    }
    await log.close();
    await (await openAppendLog(path)).log.close();
    expect((await readCountedLog(path)).records).toHaveLength(50);
  });

  it('of an earlier version is counted from then on', async () => {
    const path = join(newFolder(), 'log');
    writeFileSync(path, encodeRecords([line(1), line(2)]));
    const { log, content } = await openAppendLog(path);
    expect(content).toMatchObject({ records: [line(1), line(2)], damage: [] });
    await log.append(line(3));
    await log.close();
    const whole = readFileSync(path);
    truncateSync(path, whole.lastIndexOf('\n', whole.length - 2) + 1);
    expect((await readCountedLog(path)).damage).toHaveLength(1);
  });
});
