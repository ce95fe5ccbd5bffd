import { describe, expect, it } from 'vitest';
import { splitName } from '../../../src/batch/page/words.ts';

describe('a long name in the list', () => {
  it('keeps its end, which distinguishes it from its neighbours', () => {
    const name = 'Introduction to thermodynamics, lecture 07.mp4';
    const [start, end] = splitName(name);
    expect(start + end).toBe(name);
    expect(end).toBe('lecture 07.mp4');
  });

  it('is never split within a character', () => {
    const name = 'a very long name of a family video 👨‍👩‍👧‍👦é 2026-11.mp4';
    const [start, end] = splitName(name);
    expect(start + end).toBe(name);
    expect(end).toBe('👨‍👩‍👧‍👦é 2026-11.mp4');
  });

  it('is whole if it is short', () => {
    expect(splitName('week1/talk.mp4')).toEqual(['week1/talk.mp4', '']);
  });
});
