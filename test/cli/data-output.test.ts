import { describe, expect, it } from 'vitest';
import { createDataOutput } from '../../src/cli/data-output.ts';
import { compileJq } from '../../src/cli/jq.ts';
import type { OutputMode } from '../../src/commands/context/output/forms.ts';
import { createTestIo } from '../support/test-io.ts';

/** A control of one byte, an escape sequence, and a character that turns text around. */
const HOSTILE = 'a\u009b2J\u202eb';

async function print(mode: OutputMode, text: string, { expression = '', isTTY = false } = {}) {
  const { io, stdout } = createTestIo();
  const stream = Object.assign(io.stdout, { isTTY });
  const jq =
    expression === '' ? null : await compileJq(expression, { signal: AbortSignal.any([]), advice: '' });
  const data = createDataOutput({ stdout: stream }, mode, jq);
  data.print(text);
  expect(await data.finish()).toBeNull();
  await jq?.close();
  return stdout();
}

describe('data from outside', () => {
  it.each(['json', 'ndjson', 'table'] as const)(
    'in %s is the same JSON, without what acts on a terminal',
    async (mode) => {
      const printed = await print(mode, JSON.stringify({ name: HOSTILE }));
      expect(printed).toBe('{"name":"a\\u009b2J\\u202eb"}\n');
      expect(JSON.parse(printed)).toEqual({ name: HOSTILE });
    },
  );

  it('in plain keeps its tabs, and forges no line', async () => {
    expect(await print('plain', `x\ty\nz${HOSTILE}`)).toBe('x\ty\\u000az' + 'a\\u009b2J\\u202eb\n');
  });

  it('through jq is unchanged text for programs, and harmless on a terminal', async () => {
    const json = JSON.stringify({ name: HOSTILE });
    expect(await print('json', json, { expression: '.name' })).toBe(`${HOSTILE}\n`);
    expect(await print('json', json, { expression: '.name', isTTY: true })).toBe('a\\u009b2J\\u202eb\n');
  });
});
