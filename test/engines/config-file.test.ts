import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Failure } from '../../src/base/failure.ts';
import { readEnginesFile, saveEnginesFile } from '../../src/engines/config-file.ts';
import { makeFolder } from '../support/make-folder.ts';

let path = '';
let warnings: string[] = [];
beforeEach(() => {
  path = join(makeFolder(), 'engines.json');
  warnings = [];
});

const warn = (text: string) => warnings.push(text);

async function read(text: string | Buffer) {
  await writeFile(path, text, { mode: 0o600 });
  return readEnginesFile({ path, chooser: null }, warn);
}

async function failureOf(attempt: Promise<unknown>): Promise<Failure['facts']> {
  const error = await attempt.then(
    () => null,
    (reason: Failure) => reason,
  );
  return error?.facts ?? { category: 'refused', code: 'NOTHING_FAILED', message: '' };
}

describe('the default file', () => {
  it('may be missing', async () => {
    expect(await readEnginesFile({ path, chooser: null }, warn)).toBeNull();
  });

  it('is read without a byte order mark', async () => {
    const found = await read('\uFEFF{ "translate": ["apertium"] }');
    expect(found?.config).toEqual({ translate: ['apertium'] });
    expect(warnings).toEqual([]);
  });

  it('is returned as checked, and as written', async () => {
    const found = await read('{"translate": [{"type": "openai", "model": " m ", "url": "http://gpu"}]}');
    expect(found?.config.translate?.[0]).toMatchObject({ model: 'm' });
    expect(found?.written.translate?.[0]).toMatchObject({ model: ' m ' });
  });
});

describe('a named file', () => {
  it('must exist', async () => {
    const facts = await failureOf(readEnginesFile({ path, chooser: 'VLOC_ENGINES' }, warn));
    expect(facts).toMatchObject({
      category: 'configuration',
      code: 'ENGINES_INVALID',
      message: `cannot read ${path}: there is no such file; check the path; VLOC_ENGINES names it`,
    });
  });

  it('must be a file', async () => {
    await mkdir(path);
    const facts = await failureOf(readEnginesFile({ path, chooser: '--engines' }, warn));
    expect(facts.message).toBe(`${path} is not a file`);
  });

  it('must be small', async () => {
    const facts = await failureOf(read(Buffer.alloc(1024 * 1024 + 1, ' ')));
    expect(facts.message).toBe(`${path} has 1048577 bytes; at most 1048576 are read`);
  });
});

it('with permissions for others is a warning, with the command that removes them', async () => {
  await read('{}');
  await chmod(path, 0o664);
  await readEnginesFile({ path, chooser: null }, warn);
  expect(warnings).toEqual([expect.stringContaining(`run: chmod 600 '${path}'`)]);
});

describe('text that is not JSON', () => {
  it.each([
    ['', 'line 1, column 1: expected a value'],
    ['{"translate": ["apertium"]', 'line 1, column 27: expected "," or "}"'],
    ['{\n  "translate": ["apertium",]\n}', 'line 2, column 28: expected a value'],
    ["{'translate': []}", 'line 1, column 2: expected a name in double quotes'],
    ['{"translate" []}', 'line 1, column 14: expected ":"'],
    ['{"translate": [{"type": "openai" "url": "x"}]}', 'line 1, column 34: expected "," or "}"'],
    ['{}\n{}', 'line 2, column 1: expected the end of the file'],
    [
      '{"a": {}, "b": [], "c": [[1.5e3, true], null], d: 1}',
      'line 1, column 48: expected a name in double quotes',
    ],
    ['{"key": "canary}', 'line 1, column 9: expected a value'],
    ['{"key": "a\\x"}', 'line 1, column 9: expected a value'],
  ])('%j: %s', async (text, where) => {
    const facts = await failureOf(read(text));
    expect(facts).toMatchObject({ code: 'ENGINES_INVALID', message: `${path} is not JSON: ${where}` });
    expect(facts.message).not.toContain('canary');
  });
});

it('names the file of a mistake', async () => {
  expect((await failureOf(read('{"translate": []}'))).message).toBe(`${path} cannot be used`);
});

describe('a saved file', () => {
  it('is readable by the user only, in such a folder, and can be read again', async () => {
    const inside = join(path, 'config', 'engines.json');
    await saveEnginesFile(inside, { $schema: './schema.json', translate: ['apertium'] });
    expect((await stat(inside)).mode & 0o777).toBe(0o600);
    expect((await stat(join(path, 'config'))).mode & 0o777).toBe(0o700);
    expect(await readFile(inside, 'utf8')).toBe(
      '{\n  "$schema": "./schema.json",\n  "translate": [\n    "apertium"\n  ]\n}\n',
    );
    expect((await readEnginesFile({ path: inside, chooser: null }, warn))?.config.$schema).toBe(
      './schema.json',
    );
    expect(await readdir(join(path, 'config'))).toEqual(['engines.json']);
  });

  it('replaces the file behind a link, not the link', async () => {
    const real = join(makeFolder(), 'mine.json');
    await writeFile(real, '{}');
    await symlink(real, path);
    await saveEnginesFile(path, { speak: ['espeak-ng'] });
    expect((await lstat(path)).isSymbolicLink()).toBe(true);
    expect(JSON.parse(await readFile(real, 'utf8'))).toEqual({ speak: ['espeak-ng'] });
  });

  it('that cannot be written is reported as such, and leaves no draft', async () => {
    await mkdir(path);
    expect(await failureOf(saveEnginesFile(path, {}))).toMatchObject({
      category: 'disk',
      code: 'DISK_ERROR',
    });
    expect(await readdir(join(path, '..'))).toEqual(['engines.json']);
  });
});
