import { describe, expect, it, onTestFinished } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { compileJq } from '../../src/cli/jq.ts';

const ADVICE = 'What the run has done is kept.';

async function compile(expression: string, signal = new AbortController().signal) {
  const filter = await compileJq(expression, { signal, advice: ADVICE });
  onTestFinished(() => filter.close());
  return filter;
}

const apply = async (expression: string, value: unknown) =>
  (await compile(expression)).apply(JSON.stringify(value));

describe('a jq expression', () => {
  it.each([
    ['def twice: . * 2; .n | twice  # by name', { n: 4 }, ['8']],
    ['empty', 1, []],
    ['""', 1, ['""']],
  ])('%s', async (expression, value, expected) => {
    expect(await apply(expression, value)).toEqual(expected);
  });

  it('that is none is refused by its compilation', async () => {
    await expect(compile('.a |')).rejects.toMatchObject({
      facts: { code: 'JQ_INVALID', advice: expect.stringContaining('Nothing was sent') },
    });
  });

  it('that fails halfway returns nothing but its error', async () => {
    await expect(apply('.[].a', [{ a: 1 }, 7])).rejects.toMatchObject({
      facts: { code: 'JQ_DOES_NOT_FIT', message: expect.stringContaining('Cannot index number') },
    });
  });

  it.each([
    ['error("mine")', 'mine'],
    ['"stop\\nhere" | halt_error', 'stop'],
    ['halt', 'it halts'],
    ['"x" * (.a * 3e9)', 'it takes too much memory'],
  ])('that fails when it runs says why, and not that nothing was sent: %s', async (expression, why) => {
    await expect(apply(expression, { a: 1 })).rejects.toMatchObject({
      facts: {
        code: 'JQ_DOES_NOT_FIT',
        message: `the jq expression does not fit the data: ${why}`,
        advice: ADVICE,
      },
    });
  });

  it('that never ends is ended by the signal, and leaves this thread free', async () => {
    const stop = new AbortController();
    const filter = await compile('def f: f; f', stop.signal);
    const running = filter.apply('1');
    stop.abort(new Error('stopped'));
    await expect(running).rejects.toThrow('stopped');
  });

  it('still filters what a run prints after it was stopped', async () => {
    const stop = new AbortController();
    const filter = await compile('.a', stop.signal);
    stop.abort(new Error('stopped'));
    expect(await filter.apply('{"a":1}')).toEqual(['1']);
  });

  it('accepts hundreds of records, and returns them whole', async () => {
    const records = Array.from({ length: 300 }, (_, at) => ({
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
    expect(failure.facts.advice).toMatch(/^What the run has done is kept\..*--output ndjson/);
  });
});
