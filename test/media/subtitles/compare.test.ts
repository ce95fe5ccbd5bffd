import { expect, test } from 'vitest';
import { compareSubtitles, describeChange } from '../../../src/media/subtitles/compare.ts';

const line = (index: number, start_ms: number, end_ms: number, text: string) => ({
  index,
  start_ms,
  end_ms,
  text,
});

test('equal subtitles have no change, however they are numbered', () => {
  const lines = [line(1, 0, 1000, 'One'), line(2, 1000, 2000, 'Two')];
  const renumbered = lines.map((one) => ({ ...one, index: one.index + 5 }));
  expect(compareSubtitles(lines, renumbered)).toEqual({ same: 2, changes: [] });
});

test('changes of text and time, added and removed cues are described for people', () => {
  const before = [line(1, 0, 1000, 'One'), line(2, 2000, 3000, 'Two\nrows'), line(3, 4000, 5000, 'Three')];
  const after = [line(1, 0, 1000, 'One'), line(2, 2100, 2900, 'Two rows'), line(3, 6000, 7000, 'Four')];
  const { same, changes } = compareSubtitles(before, after);
  expect(same).toBe(1);
  expect(changes.map(describeChange)).toEqual([
    ['00:00:02,000 cue 2 text, begins 100 ms later, ends 100 ms earlier', '- Two / rows', '+ Two rows'],
    ['00:00:04,000 cue 3 removed', '- Three'],
    ['00:00:06,000 cue 3 added', '+ Four'],
  ]);
});

test('one cue added at the start does not make all others changed', () => {
  const before = [line(1, 1000, 2000, 'One'), line(2, 3000, 4000, 'Two')];
  const { same, changes } = compareSubtitles(before, [line(1, 0, 500, 'Zero'), ...before]);
  expect([same, changes.map(({ type }) => type)]).toEqual([2, ['added']]);
});

test('subtitles that all come later are moved, also where a text occurs twice', () => {
  const before = ['One', 'Yes', 'Two', 'Yes', 'Three'].map((text, at) =>
    line(at + 1, at * 1000, at * 1000 + 1000, text),
  );
  for (const shift of [400, 1500, 90_000]) {
    const after = before.map((cue) => ({
      ...cue,
      start_ms: cue.start_ms + shift,
      end_ms: cue.end_ms + shift,
    }));
    const { same, changes } = compareSubtitles(before, after);
    const moved = before.map(() => ({ type: 'changed', text: false, startMoved: shift, endMoved: shift }));
    expect(same).toBe(0);
    expect(changes).toMatchObject(moved);
  }
});

test('a cue that was put elsewhere is removed and added, and the others are the same', () => {
  const before = ['One', 'Two', 'Three', 'Four'].map((text, at) =>
    line(at + 1, at * 1000, at * 1000 + 900, text),
  );
  const after = [...before.slice(1), line(5, 9000, 9900, 'One')];
  const { same, changes } = compareSubtitles(before, after);
  expect([same, changes.map(({ type }) => type)]).toEqual([3, ['removed', 'added']]);
});
