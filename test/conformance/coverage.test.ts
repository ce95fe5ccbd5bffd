import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findGaps, formatCoverage } from './coverage-table.ts';
import type { Rule } from './rule.ts';
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

  it('are shown on the page as they are', () => {
    const page = new URL('../../docs/conformance.md', import.meta.url);
    expect(readFileSync(page, 'utf8')).toBe(formatCoverage(SENTENCES, RULES));
  });

  it('give every operation a rule for each status that a request can cause', () => {
    const ids = RULES.map(({ id }) => id);
    // 26 operations, one of them with two successes; 8 reads of collections with 4 errors each, 6 of single records
    // with 4, 5 creates with 8, 5 cancels with 5, a reservation with 6 and a completion with 7.
    expect(ids.filter((id) => /^operations\.\w+\.20\d$/.test(id))).toHaveLength(27);
    expect(ids.filter((id) => /^operations\.\w+\.4\d\d$/.test(id))).toHaveLength(134);
  });
});

describe('the search for gaps', () => {
  const rule: Rule = {
    id: 'a.rule',
    title: 'it holds',
    covers: ['limit.rate'],
    strictness: 'spec',
    needs: [],
    check: async () => {},
  };
  const unseen = { text: 'said', unseen: 'out of sight' };

  it('finds a sentence without a rule', () => {
    const sections = { One: { 'limit.rate': 'said', 'other.rate': 'said too', 'hidden.rate': unseen } };
    expect(findGaps(sections, [rule]).uncovered).toEqual(['other.rate']);
  });

  it('finds a rule without a sentence', () => {
    expect(findGaps({ One: {} }, [rule]).homeless).toEqual(['a.rule']);
    expect(findGaps({ One: {} }, [{ ...rule, covers: [] }]).homeless).toEqual(['a.rule']);
  });

  it('finds a sentence that clients cannot observe and that has a rule, and a repeated id', () => {
    const gaps = findGaps({ One: { 'limit.rate': unseen } }, [rule, rule]);
    expect(gaps.seenAfterAll).toEqual(['limit.rate']);
    expect(gaps.repeated).toEqual(['a.rule']);
  });
});
