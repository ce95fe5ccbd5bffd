import { describe, expect, it } from 'vitest';
import { createDataOutput } from '../../src/cli/data-output.ts';
import { compileJq, type JqFilter } from '../../src/cli/jq.ts';
import type { OutputMode } from '../../src/commands/context/output/forms.ts';
import { createTestIo } from '../support/test-io.ts';

/** A control of one byte, an escape sequence, and a character that turns text around. */
const HOSTILE = 'a\u009b2J\u202eb';

async function print(mode: OutputMode, text: string, jq: JqFilter | null = null, isTTY = false) {
  const { io, stdout } = createTestIo();
  const data = createDataOutput({ stdout: Object.assign(io.stdout, { isTTY }) }, mode, jq);
  data.print(text);
  expect(await data.finish()).toBeNull();
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
    const jq = await compileJq('.name', { signal: AbortSignal.any([]), advice: '' });
    expect(await print('json', json, jq)).toBe(`${HOSTILE}\n`);
    expect(await print('json', json, jq, true)).toBe('a\\u009b2J\\u202eb\n');
    await jq.close();
  });
});
