import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { openLogFile } from '../../../src/batch/records/log-file.ts';
import { newFolder } from './support/folder.ts';

const bytes = (text: string) => Buffer.from(text);
const newPath = () => join(newFolder(), 'log');

describe('the file of a log', () => {
  it('knows its length, returns its lines, and is readable by its owner only', async () => {
    const path = newPath();
    const file = await openLogFile(path);
    expect({ length: file.length, torn: file.torn }).toEqual({ length: 0, torn: 0 });
    await file.append(bytes('one\n'));
    await file.append(bytes('two\n'));
    expect(file.length).toBe(8);
    expect(await file.read()).toEqual(bytes('one\ntwo\n'));
    await file.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const again = await openLogFile(path);
    expect({ length: again.length, torn: again.torn }).toEqual({ length: 8, torn: 0 });
    await again.close();
  });

  // What is searched at a time, and around it.
  const TAIL = 64 * 1024;
  it.each([1, TAIL - 1, TAIL, TAIL + 1, 2 * TAIL - 1, 2 * TAIL, 3 * TAIL])(
    'loses an unfinished line of %i bytes, and nothing before it',
    async (torn) => {
      const path = newPath();
      writeFileSync(path, `first\nsecond\n${'x'.repeat(torn)}`);
      const file = await openLogFile(path);
      expect({ length: file.length, torn: file.torn }).toEqual({ length: 13, torn });
      expect(readFileSync(path, 'utf8')).toBe('first\nsecond\n');
      await file.append(bytes('third\n'));
      expect((await file.read()).toString()).toBe('first\nsecond\nthird\n');
      await file.close();
    },
  );

  it('without one whole line is empty', async () => {
    const path = newPath();
    writeFileSync(path, 'half a line');
    const file = await openLogFile(path);
    expect({ length: file.length, torn: file.torn }).toEqual({ length: 0, torn: 11 });
    expect(statSync(path).size).toBe(0);
    await file.close();
  });

  it('that was shortened meanwhile returns the rest', async () => {
    const path = newPath();
    const file = await openLogFile(path);
    await file.append(bytes('one\ntwo\n'));
    truncateSync(path, 4);
    expect(await file.read()).toEqual(bytes('one\n'));
    await file.close();
  });

  it('gets other lines instead of all, and later appends follow them', async () => {
    const path = newPath();
    const file = await openLogFile(path);
    await file.append(bytes('one\ntwo\n'));
    const { ino } = statSync(path);
    await file.replace(bytes('2\n'));
    expect(statSync(path).ino).not.toBe(ino);
    expect({ length: file.length, isDraftLeft: existsSync(`${path}.new`) }).toEqual({
      length: 2,
      isDraftLeft: false,
    });
    await file.append(bytes('three\n'));
    expect(await file.read()).toEqual(bytes('2\nthree\n'));
    await file.close();
    expect(readFileSync(path, 'utf8')).toBe('2\nthree\n');
  });
});

describe('a disk that fails', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** Makes the system's next calls of that name fail. */
  async function failNext(call: 'datasync' | 'sync' | 'write', times = 1): Promise<void> {
    const handle = await open(newPath(), 'w');
    const handles: FileHandle = Object.getPrototypeOf(handle);
    await handle.close();
    const spy = vi.spyOn(handles, call);
    const error = Object.assign(new Error('EIO'), { code: 'EIO' });
    for (let time = 0; time < times; time += 1) spy.mockRejectedValueOnce(error);
  }

  it.each(['write', 'datasync'] as const)('at a %s does not change the file', async (call) => {
    const path = newPath();
    const file = await openLogFile(path);
    await file.append(bytes('one\n'));
    await failNext(call);
    await expect(file.append(bytes('two\n'))).rejects.toThrow(Failure);
    expect(readFileSync(path, 'utf8')).toBe('one\n');
    expect(file.length).toBe(4);
    await file.append(bytes('three\n'));
    expect(readFileSync(path, 'utf8')).toBe('one\nthree\n');
    await file.close();
  });

  it('also when the file is cut back loses no line and keeps none that was reported as failed', async () => {
    const path = newPath();
    const file = await openLogFile(path);
    await file.append(bytes('one\n'));
    const untouched = readFileSync(path);
    await failNext('datasync', 3);
    await expect(file.append(bytes('two\n'))).rejects.toThrow(Failure);
    // The cut that was tried first fails too, and nothing may be written before one has succeeded.
    await expect(file.append(bytes('three\n'))).rejects.toThrow(Failure);
    expect(readFileSync(path)).toEqual(untouched);
    await file.append(bytes('four\n'));
    expect(readFileSync(path, 'utf8')).toBe('one\nfour\n');
    await file.close();
  });

  it.each(['write', 'sync'] as const)(
    'at a %s of the new lines keeps the old ones, and leaves no draft',
    async (call) => {
      const path = newPath();
      const file = await openLogFile(path);
      await file.append(bytes('one\ntwo\n'));
      await failNext(call);
      await expect(file.replace(bytes('2\n'))).rejects.toThrow(Failure);
      expect(existsSync(`${path}.new`)).toBe(false);
      await file.append(bytes('three\n'));
      expect(file.length).toBe(14);
      await file.close();
      expect(readFileSync(path, 'utf8')).toBe('one\ntwo\nthree\n');
    },
  );

  it('that writes only a part of the bytes gets the rest', async () => {
    const path = newPath();
    const file = await openLogFile(path);
    const handle = await open(path, 'r');
    const handles: FileHandle = Object.getPrototypeOf(handle);
    await handle.close();
    const { write } = handles;
    vi.spyOn(handles, 'write').mockImplementationOnce(function (this: FileHandle, buffer: unknown) {
      if (!Buffer.isBuffer(buffer)) throw new Error('bytes are written');
      return Reflect.apply(write, this, [buffer, 0, 3]);
    });
    await file.append(bytes('one\ntwo\n'));
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
    await file.close();
  });
});
