import { describe, expect, it } from 'vitest';
import type { InputProblem } from '../../../src/batch/input.ts';
import { setFields } from '../../../src/batch/inputs/requests.ts';

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

  it('changes nested fields, and leaves their neighbours as they are', () => {
    const shared = { voice: { name: 'eva' } };
    expect(set({ 'voice.speed': '2', 'a.b.c': 'x' }, shared).fields).toEqual({
      voice: { name: 'eva', speed: 2 },
      a: { b: { c: 'x' } },
    });
    expect(shared).toEqual({ voice: { name: 'eva' } });
  });
});
