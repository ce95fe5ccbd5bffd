import { describe, expect, it } from 'vitest';
import { layOut } from '../../../src/cli/terminal/table.ts';

describe('a table', () => {
  it('aligns columns by what a terminal shows, wide characters too', () => {
    const rows = layOut(
      ['A', 'B'],
      [
        ['字幕', 'x'],
        ['ab', 'y'],
      ],
    ).split('\n');
    expect(rows).toEqual(['A     B', '字幕  x', 'ab    y']);
  });

  it('escapes every cell', () => {
    expect(layOut(['A'], [['\u001b[2J']])).toContain('\\u001b[2J');
  });
});
