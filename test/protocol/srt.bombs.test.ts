/** Files made to keep a parser busy. Work is counted in characters handled, since clocks on shared machines tell little. */
import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { LIMITS } from '../../src/protocol/limits.ts';
import { parseSrt, SubtitleError } from '../../src/protocol/srt.ts';

/** No measure: honest work takes under a second, and a pattern that backtracks over 10 MiB takes years. */
const WATCHDOG_MS = 25_000;

const TIMES = '00:00:01,000 --> 00:00:02,000';

/** Each makes a hostile file of about so many characters. */
const BOMBS: Record<string, (size: number) => string> = {
  'carriage returns': (size) => '\r'.repeat(size),
  'line feeds': (size) => '\n'.repeat(size),
  'one long row': (size) => 'x'.repeat(size),
  'blanks before times': (size) => `1\n${' '.repeat(size)}${TIMES}x\nx`,
  'blanks within times': (size) => `1\n00:00:01,000${' '.repeat(size)}> 00:00:02,000\nx`,
  'blanks after times': (size) => `1\n${TIMES}${' '.repeat(size)}\u2028\nx`,
  'a huge number': (size) => `${'1'.repeat(size)}x\n${TIMES}\nx`,
  'a number and blanks': (size) => `1${' '.repeat(size)}x\n${TIMES}\nx`,
  'a cue of one row': (size) => `1\n${TIMES}\n${'x'.repeat(size)}`,
  'a cue of many rows': (size) => `1\n${TIMES}\n${'x\n'.repeat(size / 2)}`,
  'blank rows in a cue': (size) => `1\n${TIMES}\nx${'\n'.repeat(size)}x`,
  'nested tags': (size) => `1\n${TIMES}\n${'<i>'.repeat(size / 3)}`,
  'arrows in the text': (size) => `1\n${TIMES}\n${'-->'.repeat(size / 3)}`,
  'dashes in the text': (size) => `1\n${TIMES}\n${'-'.repeat(size)}`,
  'cues without text': (size) => `1\n${TIMES}\n\n`.repeat(size / 33),
};

/** Counts the characters that pass through strings while a text is parsed. */
function countWork(text: string): number {
  let work = 0;
  const { charCodeAt, slice, trim, split, replaceAll } = String.prototype;
  vi.spyOn(String.prototype, 'charCodeAt').mockImplementation(function (this: string, at) {
    work += 1;
    return charCodeAt.call(this, at);
  });
  vi.spyOn(String.prototype, 'slice').mockImplementation(function (this: string, ...range) {
    const part = slice.apply(this, range);
    work += part.length;
    return part;
  });
  for (const [name, method] of Object.entries({ trim, split, replaceAll })) {
    const literal = name as 'trim'; // `spyOn` asks for one; all three are handed on with what they were given
    vi.spyOn(String.prototype, literal).mockImplementation(function (this: string, ...given) {
      work += this.length;
      return Reflect.apply(method, this, given);
    });
  }
  try {
    expect(() => parseSrt(text)).toThrow(SubtitleError);
  } finally {
    vi.restoreAllMocks();
  }
  return work;
}

describe.each(Object.entries(BOMBS))('a file of %s', (_name, make) => {
  it('of 10 MiB is refused with a reason', () => {
    const text = make(LIMITS.subtitleBytes - 100);
    const read = () => runInNewContext('parse()', { parse: () => parseSrt(text) }, { timeout: WATCHDOG_MS });
    expect(read).toThrow(SubtitleError);
  });

  it('takes twice the work at twice the size', () => {
    const small = countWork(make(30_000));
    expect(countWork(make(60_000)) / small).toBeLessThan(2.5);
    expect(small / 30_000).toBeLessThan(10);
  });
});

describe('a cue that exceeds the limit', () => {
  it('is refused before all its rows are collected', () => {
    const size = 60_000;
    const text = `1\n${TIMES}\n${'x\n'.repeat(size / 2)}`;
    // Each character is looked at and each row is cut out and trimmed: two at most, and some for the rows kept.
    expect(countWork(text) / size).toBeLessThan(3);
  });
});
