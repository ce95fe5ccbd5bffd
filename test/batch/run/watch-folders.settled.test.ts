import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FileWork,
  mayBeInput,
  NOTHING_SEEN,
  type SeenFile,
  type Sightings,
  takeLook,
} from '../../../src/batch/run/watch-folders.ts';

const file = (name: string, bytes = 10, mtimeMs = 0): SeenFile => ({ name, bytes, mtimeMs });

/** Names that settle at each of several looks. */
function looks(...steps: readonly [number, readonly SeenFile[]][]): string[][] {
  let seen: Sightings = NOTHING_SEEN;
  return steps.map(([atMs, files]) => {
    const { settled, next } = takeLook(seen, files, atMs);
    seen = next;
    return settled.map(({ name }) => name);
  });
}

describe('a file in a folder', () => {
  it('has settled when it is the same two seconds later, and is reported once', () => {
    const same = [file('a.mp4')];
    expect(looks([0, same], [1999, same], [2000, same], [9000, same])).toEqual([[], [], ['a.mp4'], []]);
  });

  it('has never settled at the first check, however old it is', () => {
    expect(looks([50_000, [file('a.mp4', 10, 1)]])).toEqual([[]]);
  });

  it('has to wait again after every change of size or time', () => {
    const [small, larger, later] = [file('a.mp4', 10), file('a.mp4', 20), file('a.mp4', 20, 5)];
    const steps = looks([0, [small]], [2000, [larger]], [4000, [later]], [5999, [later]], [6000, [later]]);
    expect(steps.flat()).toEqual(['a.mp4']);
    expect(steps[4]).toEqual(['a.mp4']);
  });

  it('is reported again after it was replaced', () => {
    const [old, replaced] = [[file('a.mp4', 10)], [file('a.mp4', 11)]];
    expect(looks([0, old], [2000, old], [4000, replaced], [6000, replaced])).toEqual([
      [],
      ['a.mp4'],
      [],
      ['a.mp4'],
    ]);
  });

  it('that was removed and came back has to settle once more', () => {
    const here = [file('a.mp4')];
    expect(looks([0, here], [1000, []], [2000, here], [4000, here]).map((names) => names.length)).toEqual([
      0, 0, 0, 1,
    ]);
  });

  it('has not settled while it is empty, because it is still being written', () => {
    const empty = [file('a.mp4', 0)];
    expect(looks([0, empty], [60_000, empty])).toEqual([[], []]);
    expect(takeLook(NOTHING_SEEN, empty, 0).isWaiting).toBe(false);
  });

  it('does not settle early if the clock is set back', () => {
    const same = [file('a.mp4')];
    expect(looks([10_000, same], [5000, same], [6000, same], [7000, same])).toEqual([[], [], [], ['a.mp4']]);
  });

  it('that changes while it is processed is reported afterwards', () => {
    const [old, replaced] = [[file('a.mp4', 10)], [file('a.mp4', 11)]];
    let work: FileWork = 'none';
    let seen = NOTHING_SEEN;
    const settledAt = (atMs: number, files: readonly SeenFile[]) => {
      const look = takeLook(seen, files, atMs, () => work);
      seen = look.next;
      return [look.settled.length, look.isWaiting];
    };
    expect([settledAt(0, old), settledAt(2000, old)]).toEqual([
      [0, true],
      [1, false],
    ]);
    work = 'busy';
    expect([settledAt(4000, replaced), settledAt(9000, replaced)]).toEqual([
      [0, true],
      [0, true],
    ]);
    work = 'none';
    expect(settledAt(9001, replaced)).toEqual([1, false]);
  });

  it('is reported again on request', () => {
    const same = [file('a.mp4')];
    const taken = takeLook(takeLook(NOTHING_SEEN, same, 0).next, same, 2000).next;
    expect(takeLook(taken, same, 4000, () => 'again').settled).toEqual(same);
    expect(takeLook(taken, same, 4000, () => 'busy').settled).toEqual([]);
  });
});

it('no file is used within two seconds of a change, whatever changes when', () => {
  const change = fc.record({
    passMs: fc.integer({ min: 0, max: 3000 }),
    bytes: fc.integer({ min: 1, max: 3 }),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      let seen: Sightings = NOTHING_SEEN;
      let [atMs, changedMs, bytes] = [0, 0, 0];
      for (const step of changes) {
        atMs += step.passMs;
        if (step.bytes !== bytes) changedMs = atMs;
        bytes = step.bytes;
        const { settled, next } = takeLook(seen, [file('a.mp4', bytes)], atMs);
        seen = next;
        if (settled.length > 0) expect(atMs - changedMs).toBeGreaterThanOrEqual(2000);
      }
    }),
  );
});

it.each([
  ['talk.mp4', true],
  ['week 1/talk.mp4', true],
  ['talk.mp4.part', false],
  ['talk.mp4.crdownload', false],
  ['.talk.mp4', false],
  ['.vloc/records.db', false],
  ['week1/.cache/talk.mp4', false],
])('%s may be an input: %s', (name, expected) => {
  expect(mayBeInput(name)).toBe(expected);
});
