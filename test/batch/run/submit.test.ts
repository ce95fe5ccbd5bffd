/** The order of what is written and what is sent. Source: reliability, 3.1, "fsync order". */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { HAS_STRACE, STRACE } from '../records/support/strace.ts';
import { OWN_RUN } from './support/own-run.ts';
import { startStage } from './support/stage.ts';

const COUNT = 3;
/** A page of the database, in which an attempt is, and a request up to its headers. */
const SHOWN_BYTES = 5000;

describe.skipIf(!HAS_STRACE)('a paid call (needs strace)', () => {
  it('is sent after its attempt is on the disk, every time', async () => {
    const stage = await startStage();
    const trace = join(stage.folder, 'trace');
    const calls = 'trace=fsync,fdatasync,ftruncate,write,writev,pwrite64,sendto,sendmsg';
    await promisify(execFile)('strace', [
      ...[...STRACE, '-y', '-s', String(SHOWN_BYTES), '-o', trace, '-e', calls],
      ...[process.execPath, OWN_RUN, JSON.stringify(stage.ownRun({ lines: COUNT }))],
    ]);
    const rows = (await readFile(trace, 'utf8')).split('\n');
    const posts = rows.flatMap((row, at) => {
      const isPost = /POST \/v1\/subtitle-translations /.test(row);
      const key = /idempotency-key: ([\w-]+)/i.exec(row)?.[1];
      return isPost && key !== undefined ? [{ at, key }] : [];
    });
    expect(posts.map(({ key }) => key)).toHaveLength(COUNT);
    for (const { at, key } of posts) {
      const next = (begin: number, pattern: RegExp) =>
        rows.findIndex((row, index) => index > begin && pattern.test(row));
      const written = rows.findIndex((row) => /out\/\.vloc\/records\.db>/.test(row) && row.includes(key));
      expect(rows[written]).toMatch(/asked/);
      const synced = next(written, /f(data)?sync\(\d+<[^>]*out\/\.vloc\/records\.db>\) *= 0/);
      const ended = next(synced, /ftruncate\(\d+<[^>]*out\/\.vloc\/records\.db-journal>, 0\) *= 0/);
      const endSynced = next(ended, /f(data)?sync\(\d+<[^>]*out\/\.vloc\/records\.db-journal>\) *= 0/);
      expect([written, synced, ended, endSynced, at].toSorted((one, other) => one - other)).toEqual([
        written,
        synced,
        ended,
        endSynced,
        at,
      ]);
      expect(written).toBeGreaterThan(0);
    }
  });
});
