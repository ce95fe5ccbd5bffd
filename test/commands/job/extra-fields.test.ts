import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readBodyFields, setFields } from '../../../src/commands/job/extra-fields.ts';
import type { InputProblem } from '../../../src/commands/job/job-input.ts';
import { createTestIo } from '../../support/test-io.ts';

describe('--set', () => {
  const set = (pairs: Record<string, string>, fields: Record<string, unknown> = {}) => {
    const problems: InputProblem[] = [];
    return { fields: setFields(fields, pairs, problems), problems };
  };

  it('takes JSON as JSON and everything else as text', () => {
    const pairs = { tone: 'formal', speed: '1.2', strict: 'true', none: 'null', list: '[1,"a"]', id: '"7"' };
    expect(set(pairs).fields).toEqual({
      tone: 'formal',
      speed: 1.2,
      strict: true,
      none: null,
      list: [1, 'a'],
      id: '7',
    });
  });

  it('goes into nested fields, beside what is there, and changes nothing for others', () => {
    const shared = { voice: { name: 'eva' } };
    expect(set({ 'voice.speed': '2', 'a.b.c': 'x' }, shared).fields).toEqual({
      voice: { name: 'eva', speed: 2 },
      a: { b: { c: 'x' } },
    });
    expect(shared).toEqual({ voice: { name: 'eva' } });
  });

  it.each([
    [{ 'mode.x': '1' }, 'leads into a field that holds no object'],
    [{ '__proto__.polluted': '1' }, 'is no name of a field'],
    [{ 'a..b': '1' }, 'is no name of a field'],
  ])('refuses %j', (pairs, said) => {
    const { problems } = set(pairs, { mode: 'standard' });
    expect(problems).toEqual([{ pointer: expect.stringMatching(/^--set /), detail: said }]);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

describe('--body', () => {
  async function read(written: string | undefined, stdin = '', operands: string[] = ['a.mp4']) {
    const cwd = await mkdtemp(join(tmpdir(), 'vloc-body-'));
    onTestFinished(() => rm(cwd, { recursive: true }));
    await writeFile(join(cwd, 'body.json'), '{"tone":"formal"}');
    const problems: InputProblem[] = [];
    const fields = await readBodyFields(written, operands, createTestIo({ cwd, stdin }).io, problems);
    return { fields, problems: problems.map(({ detail }) => detail) };
  }

  it('is a JSON object from a file or from stdin', async () => {
    expect(await read('@body.json')).toEqual({ fields: { tone: 'formal' }, problems: [] });
    expect((await read('-', '{"a":1}')).fields).toEqual({ a: 1 });
    expect(await read(undefined)).toEqual({ fields: {}, problems: [] });
  });

  it.each([
    ['-', '[1]', ['a.mp4'], 'must be a JSON object'],
    ['-', '{', ['a.mp4'], 'no JSON'],
    ['-', '{}', ['-'], '- is the input already'],
    ['@gone.json', '', ['a.mp4'], 'cannot be read (ENOENT)'],
  ])('%s with %j is refused for %j', async (written, stdin, operands, said) => {
    expect((await read(written, stdin, operands)).problems).toEqual([expect.stringContaining(said)]);
  });
});
