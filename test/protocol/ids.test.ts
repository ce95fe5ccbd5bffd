import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ID_PREFIXES, type IdSubject } from '../../src/protocol/id-prefixes.ts';
import { createIdMaker, isIdOf } from '../../src/protocol/ids.ts';

const NOW = Date.UTC(2026, 10, 21);
const RANGE = 2 ** 32;
const random = () => randomInt(RANGE) / RANGE;
const subjects = Object.keys(ID_PREFIXES) as IdSubject[]; // `Object.keys` forgets that the keys are those of the table

describe('an id', () => {
  it.each(subjects)('of %s has its prefix and 26 lower-case base32 characters', (subject) => {
    const id = createIdMaker(random)(subject, NOW);
    expect(id).toMatch(/^[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(id.startsWith(`${ID_PREFIXES[subject]}_`)).toBe(true);
    expect(subjects.filter((other) => isIdOf(other, id))).toEqual([subject]);
  });

  it('matches the specification for requests and events', () => {
    const make = createIdMaker(random);
    expect(make('request', NOW)).toMatch(/^req_[A-Za-z0-9_-]+$/);
    expect(make('event', NOW)).toMatch(/^evt_[A-Za-z0-9_-]{16,80}$/);
  });

  it('sorts by the time it was made, also within a millisecond and when the clock is set back', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -5_000, max: 5_000 }), { minLength: 2, maxLength: 50 }),
        (offsets) => {
          const make = createIdMaker(random);
          const ids = offsets.map((offset) => make('dubbing', NOW + offset));
          expect(ids.toSorted()).toEqual(ids);
          expect(new Set(ids).size).toBe(ids.length);
        },
      ),
    );
  });

  it('sorts by time also if other processes created the others', () => {
    const early = createIdMaker(random)('upload', NOW);
    const late = createIdMaker(random)('upload', NOW + 1);
    expect(early < late).toBe(true);
  });

  it('takes its randomness from its argument', () => {
    expect(createIdMaker(() => 0)('upload', NOW)).toBe(createIdMaker(() => 0)('upload', NOW));
    expect(createIdMaker(random)('upload', NOW)).not.toBe(createIdMaker(random)('upload', NOW));
  });
});

describe('a text is not one of our ids', () => {
  const body = '01jd6m3v0000000000000000zz';
  it.each([
    ['empty', ''],
    ['of another kind', `sep_${body}`],
    ['without prefix', body],
    ['in upper case', `dub_${body.toUpperCase()}`],
    ['one character short', `dub_${body.slice(1)}`],
    ['one character long', `dub_${body}0`],
    ['with a letter that base32 does not have', `dub_${body.replace('z', 'u')}`],
    ['followed by a line break', `dub_${body}\n`],
    ['with a path in it', `dub_../${body.slice(3)}`],
  ])('if it is %s', (_name, text) => {
    expect(isIdOf('dubbing', `dub_${body}`)).toBe(true);
    expect(isIdOf('dubbing', text)).toBe(false);
  });
});
