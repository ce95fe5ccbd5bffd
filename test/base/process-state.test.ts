import { expect, it } from 'vitest';
import { parseStat } from '../../src/base/process-state.ts';

it('the state of a process is not confused by the name of its program, and one that waits to be reaped has ended', () => {
  const fields = '1 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 987654 0';
  expect(parseStat(`7 (a) R 1 (x) S ${fields}`)).toEqual({ state: 'running', started: '987654' });
  expect(parseStat(`7 (node) Z ${fields}`)).toEqual({ state: 'gone' });
});
