import { describe, expect, it, onTestFinished } from 'vitest';
import { compileJq } from '../../src/cli/jq.ts';

const ADVICE = 'What the run has done is kept.';

async function compile(expression: string, signal = new AbortController().signal) {
  const filter = await compileJq(expression, { signal, advice: ADVICE });
  onTestFinished(() => filter.close());
  return filter;
}

describe('a jq expression', () => {
  it('may have definitions and a comment, and return nothing or an empty text', async () => {
    const expression = 'def twice: . * 2; if . == 4 then twice elif . == 1 then empty else . end  # by value';
    const { apply } = await compile(expression);
    expect([await apply('4'), await apply('1'), await apply('""')]).toEqual([['8'], [], ['""']]);
  });

  it('that is none is refused by its compilation', async () => {
    await expect(compile('.a |')).rejects.toMatchObject({
      facts: { code: 'JQ_INVALID', advice: expect.stringContaining('Nothing was sent') },
    });
  });

  it('that fails when it runs returns nothing but why, and not that nothing was sent', async () => {
    const { apply } = await compile(
      'if . == 1 then error("mine") elif . == 2 then "stop\\nhere" | halt_error elif . == 3 then halt ' +
        'elif . == 4 then "x" * (. * 3e9) else .[].a end',
    );
    for (const [value, why] of [
      [[{ a: 1 }, 7], expect.stringContaining(': Cannot index number')],
      [1, 'the jq expression does not fit the data: mine'],
      [2, 'the jq expression does not fit the data: stop'],
      [3, 'the jq expression does not fit the data: it halts'],
      [4, 'the jq expression does not fit the data: it takes too much memory'],
    ] as const) {
      await expect(apply(JSON.stringify(value))).rejects.toMatchObject({
        facts: { code: 'JQ_DOES_NOT_FIT', message: why, advice: ADVICE },
      });
    }
    await expect(apply(JSON.stringify('x'.repeat(1_000_000)))).rejects.toMatchObject({
      facts: {
        code: 'JQ_TOO_LARGE',
        advice: expect.stringMatching(/^What the run has done is kept\..*--output ndjson/),
      },
    });
  });

  it('that never ends is ended by the signal, and leaves this thread free', async () => {
    const stop = new AbortController();
    const filter = await compile('def f: f; if . == 1 then . else f end', stop.signal);
    stop.abort(new Error('stopped'));
    // What a run prints after it was stopped is still filtered.
    expect(await filter.apply('1')).toEqual(['1']);
    await expect(filter.apply('2')).rejects.toThrow('stopped');
  });

  it('accepts hundreds of records, and returns them whole', async () => {
    const records = Array.from({ length: 300 }, (_, at) => ({
      id: `loc_${at}`,
      name: '字幕 \u{1f600}',
      at,
    }));
    const { apply } = await compile('.[]');
    const lines = await apply(JSON.stringify(records));
    expect(lines.map((line) => JSON.parse(line))).toEqual(records);
  });
});
