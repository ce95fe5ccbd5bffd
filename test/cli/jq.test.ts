import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { compileJq } from '../../src/cli/jq.ts';

const apply = async (expression: string, value: unknown) =>
  (await compileJq(expression)).apply(JSON.stringify(value));

describe('a jq expression', () => {
  it.each([
    ['.a, .b', { a: 'x\ny', b: null }, ['"x\\ny"', 'null']],
    ['.[] | select(.n > 1) | .n', [{ n: 1 }, { n: 2 }, { n: 3 }], ['2', '3']],
    ['def twice: . * 2; .n | twice', { n: 4 }, ['8']],
    ['. as $all | keys | map($all[.])  # by name', { b: 1, a: 2 }, ['[2,1]']],
    ['empty', 1, []],
    ['""', 1, ['""']],
  ])('%s', async (expression, value, expected) => {
    expect(await apply(expression, value)).toEqual(expected);
  });

  it.each(['.a |', '(', 'nonsense', '"'])('that is %s is refused by its compilation', async (expression) => {
    await expect(compileJq(expression)).rejects.toMatchObject({ facts: { code: 'JQ_INVALID' } });
  });

  it('that fails halfway returns nothing but its error', async () => {
    await expect(apply('.[].a', [{ a: 1 }, 7])).rejects.toMatchObject({
      facts: { code: 'JQ_DOES_NOT_FIT', message: expect.stringContaining('Cannot index number') },
    });
  });

  it('accepts hundreds of records, and returns them whole', async () => {
    const records = Array.from({ length: 2000 }, (_, at) => ({
      id: `loc_${at}`,
      name: '字幕 \u{1f600}',
      at,
    }));
    const lines = await apply('.[]', records);
    expect(lines.map((line) => JSON.parse(line))).toEqual(records);
  });

  it('says what to do with too much data', async () => {
    const failure = await apply('length', 'x'.repeat(1_000_000)).catch((error) => error);
    expect(failure).toBeInstanceOf(Failure);
    expect(failure.facts.advice).toContain('--output ndjson');
  });
});
