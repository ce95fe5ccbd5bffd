import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { InputProblem } from '../../../src/batch/input.ts';
import { readBodyFields } from '../../../src/commands/jobs/plan-jobs.ts';
import { createTestIo } from '../../support/test-io.ts';

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
    expect((await read('-', '\uFEFF{"a":1}')).fields).toEqual({ a: 1 });
    expect(await read(undefined)).toEqual({ fields: {}, problems: [] });
  });
});
