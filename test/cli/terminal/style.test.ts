import { describe, expect, it } from 'vitest';
import { loadStyle } from '../../../src/cli/terminal/style.ts';
import { createTestIo } from '../../support/test-io.ts';

async function isColoured(
  env: Record<string, string>,
  asked: 'auto' | 'always' | 'never',
  isTTY: boolean,
): Promise<boolean> {
  const { io } = createTestIo({ env });
  Object.assign(io.stderr, { isTTY });
  return (await loadStyle(io, asked)).bad('x') !== 'x';
}

describe('colour', () => {
  it.each([
    { when: 'on a terminal', env: {}, asked: 'auto', isTTY: true, coloured: true },
    { when: 'on a pipe', env: {}, asked: 'auto', isTTY: false, coloured: false },
    { when: 'with NO_COLOR', env: { NO_COLOR: '1' }, asked: 'auto', isTTY: true, coloured: false },
    { when: 'with an empty NO_COLOR', env: { NO_COLOR: '' }, asked: 'auto', isTTY: true, coloured: true },
    {
      when: 'with FORCE_COLOR on a pipe',
      env: { FORCE_COLOR: '1' },
      asked: 'auto',
      isTTY: false,
      coloured: true,
    },
    {
      when: 'with FORCE_COLOR=0 on a pipe',
      env: { FORCE_COLOR: '0' },
      asked: 'auto',
      isTTY: false,
      coloured: false,
    },
    { when: 'on a dumb terminal', env: { TERM: 'dumb' }, asked: 'auto', isTTY: true, coloured: false },
    { when: 'enabled with --color', env: { NO_COLOR: '1' }, asked: 'always', isTTY: false, coloured: true },
    {
      when: 'disabled with --color',
      env: { FORCE_COLOR: '1' },
      asked: 'never',
      isTTY: true,
      coloured: false,
    },
  ] as const)('is $coloured $when', async ({ env, asked, isTTY, coloured }) => {
    expect(await isColoured(env, asked, isTTY)).toBe(coloured);
  });

  it('is decided for each stream separately', async () => {
    const { io } = createTestIo();
    Object.assign(io.stdout, { isTTY: true });
    expect((await loadStyle(io, 'auto', 'stdout')).bad('x')).toBe('\u001b[31mx\u001b[39m');
    expect((await loadStyle(io, 'auto', 'stderr')).bad('x')).toBe('x');
  });

  it('is one of the sixteen that every terminal has, and is closed', async () => {
    const { good, warn, faint, strong } = await loadStyle(createTestIo().io, 'always');
    expect([good('a'), warn('b'), faint('c'), strong('d')]).toEqual([
      '\u001b[32ma\u001b[39m',
      '\u001b[33mb\u001b[39m',
      '\u001b[2mc\u001b[22m',
      '\u001b[1md\u001b[22m',
    ]);
  });
});
