import { describe, expect, it } from 'vitest';
import { findGaps } from './coverage-table.ts';
import { RULES } from './rules.ts';
import { SENTENCES } from './sentences.ts';

describe('the rules and the sentences of the specification', () => {
  it('cover each other', () => {
    expect(findGaps(SENTENCES, RULES)).toEqual({
      uncovered: [],
      seenAfterAll: [],
      homeless: [],
      repeated: [],
    });
  });

  it('give every operation a rule for each status that a request can cause', () => {
    const ids = RULES.map(({ id }) => id);
    // 26 operations, one of them with two successes; 8 reads of collections with 4 errors each, 6 of single records
    // with 4, 5 creates with 8, 5 cancels with 5, a reservation with 6 and a completion with 7.
    expect(ids.filter((id) => /^operations\.\w+\.20\d$/.test(id))).toHaveLength(27);
    expect(ids.filter((id) => /^operations\.\w+\.4\d\d$/.test(id))).toHaveLength(134);
  });
});
