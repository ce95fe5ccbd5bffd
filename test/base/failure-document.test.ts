import { describe, expect, it } from 'vitest';
import { asFailure } from '../../src/base/failure-document.ts';

describe('an unforeseen error', () => {
  it('of a full disk is a disk failure', () => {
    const { facts } = asFailure(Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' }));
    expect(facts).toMatchObject({ category: 'disk', code: 'ENOSPC' });
    expect(facts.advice).toContain('Free some space');
  });

  it('of any other sort is called a defect and requests a report', () => {
    const { facts } = asFailure(new TypeError('x is undefined'));
    expect(facts).toMatchObject({ category: 'refused', code: 'INTERNAL_DEFECT' });
    expect(facts.message).toContain('x is undefined');
  });
});
