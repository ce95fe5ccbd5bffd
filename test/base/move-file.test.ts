import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { moveFile } from '../../src/base/move-file.ts';

const own = mkdtempSync(join(tmpdir(), 'vloc-move-'));
const MEMORY = '/dev/shm';
const isOtherDisk = statSync(MEMORY, { throwIfNoEntry: false })?.dev !== statSync(own).dev;
const other = mkdtempSync(join(isOtherDisk ? MEMORY : tmpdir(), 'vloc-move-'));

afterAll(() => {
  for (const folder of [own, other]) rmSync(folder, { recursive: true });
});

describe('a file', () => {
  it.each([
    ['in its folder', own],
    ['to another disk', other],
  ])('is moved %s, over the one that is there', async (_, folder) => {
    const [from, to] = [join(own, 'from'), join(folder, 'to')];
    writeFileSync(from, 'new', { mode: 0o600 });
    writeFileSync(to, 'old and longer');
    await moveFile(from, to);
    expect(readFileSync(to, 'utf8')).toBe('new');
    expect(statSync(to).mode & 0o777).toBe(0o600);
    expect(readdirSync(own)).not.toContain('from');
  });
});
