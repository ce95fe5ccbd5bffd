import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type PackedFile, writePackFile, writePackFolder } from '../../src/base/pack-files.ts';
import { makeFolder } from '../support/make-folder.ts';

const signal = new AbortController().signal;

/** Unpacks with another program, which also checks the sums. */
function unpack(file: string, folder: string): void {
  const script = 'import sys,zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])';
  execFileSync('python3', ['-c', script, file, folder]);
}

function setUp() {
  const folder = makeFolder();
  const video = join(folder, 'video.mp4');
  // More than one read.
  const bytes = randomBytes(3 * 1024 ** 2 + 1);
  writeFileSync(video, bytes);
  const files: PackedFile[] = [
    { name: 'report.html', content: '<p>año' },
    { name: 'results/日本 1.mp4', content: { file: video } },
    { name: 'originals/week 1/é.mp4', content: { file: video } },
  ];
  mkdirSync(join(folder, 'to'));
  return { folder, video, bytes, files, target: (name: string) => join(folder, 'to', name) };
}

describe.each([
  ['a ZIP file', writePackFile],
  ['a folder', writePackFolder],
])('%s', (_, write) => {
  it('has each file under its name, as it is', async () => {
    const { folder, bytes, files, target } = setUp();
    const isFile = write === writePackFile;
    await write(target('pack'), files, signal);
    const unpacked = isFile ? join(folder, 'unpacked') : target('pack');
    if (isFile) unpack(target('pack'), unpacked);
    expect(readFileSync(join(unpacked, 'report.html'), 'utf8')).toBe('<p>año');
    for (const name of ['results/日本 1.mp4', 'originals/week 1/é.mp4'])
      expect(readFileSync(join(unpacked, name)).equals(bytes), name).toBe(true);
    expect(readdirSync(join(folder, 'to'))).toEqual(['pack']);
  });

  it('is not there when a file cannot be read, which is named', async () => {
    const { folder, files, target } = setUp();
    const gone = join(folder, 'gone.mp4');
    const made = write(target('pack'), [...files, { name: 'gone.mp4', content: { file: gone } }], signal);
    await expect(made).rejects.toMatchObject({
      category: 'disk',
      message: `cannot read ${gone}: there is no such file; check the path`,
    });
    expect(readdirSync(join(folder, 'to'))).toEqual([]);
  });

  it('is not there after an interruption', async () => {
    const { folder, video, files, target } = setUp();
    const stop = new AbortController();
    const reason = new Error('interrupted');
    const many = Array.from({ length: 50 }, (__, at) => ({ name: `${at}.mp4`, content: { file: video } }));
    const made = write(target('pack'), [...files, ...many], stop.signal);
    setImmediate(() => stop.abort(reason));
    await expect(made).rejects.toBe(reason);
    expect(readdirSync(join(folder, 'to'))).toEqual([]);
  });

  it('says what the disk refused', async () => {
    const { video, files } = setUp();
    await expect(write(join(video, 'in', 'pack'), files, signal)).rejects.toMatchObject({
      category: 'disk',
      message: `cannot write ${join(video, 'in', 'pack')}: a part of the path is a file, not a folder`,
    });
  });
});
