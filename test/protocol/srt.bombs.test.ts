/** Files made to keep a parser busy. Work is counted in characters handled, since clocks on shared machines tell little. */
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { parseSrt, SubtitleError } from '../../src/protocol/srt.ts';

/** No measure: honest work over 512 KiB takes under a second, and a pattern that backtracks takes minutes. */
const WATCHDOG_MS = 25_000;
const LARGE = 512 * 1024;

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

const { charCodeAt, slice, trim, split, replaceAll } = String.prototype;
const METHODS = { charCodeAt, slice, trim, split, replaceAll };

/** Counts the characters that pass through strings while a text is parsed. A spy would keep each of a million calls. */
function countWork(text: string): number {
  let work = 0;
  const count = (name: keyof typeof METHODS, handled: (whole: string, result: unknown) => number) => {
    const method = METHODS[name];
    const counted = function (this: string, ...given: unknown[]) {
      const result = Reflect.apply(method, this, given);
      work += handled(this, result);
      return result;
    };
    Object.assign(String.prototype, { [name]: counted });
  };
  count('charCodeAt', () => 1);
  count('slice', (_, part) => String(part).length);
  for (const name of ['trim', 'split', 'replaceAll'] as const) count(name, (whole) => whole.length);
  try {
    expect(() => parseSrt(text)).toThrow(SubtitleError);
  } finally {
    Object.assign(String.prototype, METHODS);
  }
  return work;
}

const FILES = Object.entries(BOMBS);

// Before the work is counted, since strings are slow for good once their methods have been replaced.
it.each(FILES)('a large file of %s is refused with a reason', (_name, make) => {
  const text = make(LARGE);
  const read = () => runInNewContext('parse()', { parse: () => parseSrt(text) }, { timeout: WATCHDOG_MS });
  expect(read).toThrow(SubtitleError);
});

it.each(FILES)('a file of %s takes twice the work at twice the size', (_name, make) => {
  const small = countWork(make(30_000));
  expect(countWork(make(60_000)) / small).toBeLessThan(2.5);
  expect(small / 30_000).toBeLessThan(10);
});

it('a cue that exceeds the limit is refused before all its rows are collected', () => {
  const size = 60_000;
  const text = `1\n${TIMES}\n${'x\n'.repeat(size / 2)}`;
  // Each character is looked at and each row is cut out and trimmed: two at most, and some for the rows kept.
  expect(countWork(text) / size).toBeLessThan(3);
});
