import { describe, expect, it } from 'vitest';
import { findMissingCues, pairCues, type TimedCue } from '../../src/protocol/pair-cues.ts';

/** A cue from second to second; its text names it. */
const cue = (start: number, end: number, text = `words at ${start}`): TimedCue => ({
  start_ms: start * 1000,
  end_ms: end * 1000,
  text,
});

const SOURCE = [cue(0, 2), cue(2, 4), cue(5, 7), cue(8, 10)];

/** The starts of the missing cues, in seconds. */
const missingIn = (translated: readonly TimedCue[], source = SOURCE) =>
  findMissingCues(source, translated).map(({ start_ms }) => start_ms / 1000);

describe('a cue of a source', () => {
  it.each<[string, readonly TimedCue[], readonly number[]]>([
    ['is not missing if all came', SOURCE, []],
    ['is not missing if its times moved a little', SOURCE.map(moved(0.1)), []],
    ['is not missing if all times moved by an hour', SOURCE.map(moved(3600)), []],
    ['is missing if no cue has its time', SOURCE.slice(1, 3), [0, 8]],
    ['is missing if nothing came', [], [0, 2, 5, 8]],
    ['is missing if its text is empty', SOURCE.with(2, cue(5, 7, ' \n')), [5]],
    ['is missing if its text has only tags', SOURCE.with(2, cue(5, 7, '{\\an8}<c.loud></c>')), [5]],
    ['is missing if only others came, a little later', SOURCE.slice(0, 3).map(moved(0.1)), [8]],
    ['is not missing if it was joined with the next', [cue(0, 4), cue(5, 7), cue(8, 10)], []],
    ['is not missing if it was split', [cue(0, 2), cue(2, 3), cue(3, 4), cue(5, 7), cue(8, 10)], []],
    ['is missing if another one was split', [cue(0, 1), cue(1, 2), cue(5, 7), cue(8, 10)], [2]],
  ])('%s', (_, translated, missing) => expect(missingIn(translated)).toEqual(missing));

  it('is missing if only the cue came that is shown at the same time', () => {
    const source = [cue(0, 5, 'a sign'), cue(1, 3, 'a voice')];
    expect(missingIn([cue(1, 3, 'una voz')], source)).toEqual([0]);
    const same = [cue(0, 2, 'one voice'), cue(0, 2, 'another')];
    expect(missingIn([cue(0, 2, 'una voz')], same)).toEqual([0]);
  });

  it('is missing if the cue before it ends a little after its start', () => {
    expect(missingIn([cue(0, 2.1)], [cue(0, 2.1), cue(2, 4)])).toEqual([2]);
  });

  it.each(['♪ ♪', '<i>…</i>', '{\\an8}—'])('without words, as %s, is never missing', (text) => {
    expect(missingIn([cue(0, 2)], [cue(0, 2), cue(2, 4, text)])).toEqual([]);
  });
});

function moved(seconds: number): (cue: TimedCue) => TimedCue {
  return ({ start_ms, end_ms, text }) => ({
    ...{ start_ms: start_ms + seconds * 1000, end_ms: end_ms + seconds * 1000, text },
  });
}

describe('cues of a translation', () => {
  const namesOf = (translated: readonly TimedCue[]) =>
    pairCues(SOURCE, translated).map((pair) => pair?.text ?? null);

  it('belong to the cues of the same number, also if times moved', () => {
    expect(namesOf(SOURCE.map(moved(0.5)))).toEqual(SOURCE.map(({ text }) => text));
  });

  it('belong to the cue with their times, if one was left out that begins with it', () => {
    const source = [cue(0, 2, 'a voice'), cue(0, 3, 'a sign'), cue(5, 7)];
    const pairs = pairCues(source, [cue(0, 3, 'un cartel'), cue(5, 7)]);
    expect(pairs.map((pair) => pair?.text ?? null)).toEqual([null, 'un cartel', 'words at 5']);
    expect(missingIn([cue(0, 3, 'un cartel'), cue(5, 7)], source)).toEqual([0]);
  });

  it('belong to the cues that begin with them if one was left out and another one split', () => {
    const translated = [cue(0, 2), cue(5, 6, 'first half'), cue(6, 7, 'second half'), cue(8, 10)];
    expect(namesOf(translated)).toEqual(['words at 0', null, 'first half', 'words at 8']);
  });
});
