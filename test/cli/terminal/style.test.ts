import { describe, expect, it } from 'vitest';
import { createStyle } from '../../../src/cli/terminal/style.ts';
import { createTestIo } from '../../support/test-io.ts';

function isColoured(
  env: Record<string, string>,
  asked: 'auto' | 'always' | 'never',
  isTTY: boolean,
): boolean {
  const { io } = createTestIo({ env });
  Object.assign(io.stderr, { isTTY });
  return createStyle(io, asked).bad('x') !== 'x';
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
    { when: 'asked for with --color', env: { NO_COLOR: '1' }, asked: 'always', isTTY: false, coloured: true },
    {
      when: 'switched off with --color',
      env: { FORCE_COLOR: '1' },
      asked: 'never',
      isTTY: true,
      coloured: false,
    },
  ] as const)('is $coloured $when', ({ env, asked, isTTY, coloured }) => {
    expect(isColoured(env, asked, isTTY)).toBe(coloured);
  });
});
