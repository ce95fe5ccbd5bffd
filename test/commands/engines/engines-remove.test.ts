import { beforeEach, describe, expect, it } from 'vitest';
import { type EnginesDesk, openEnginesDesk } from '../support/run-engines.ts';

const LARGE = { type: 'openai', url: 'http://127.0.0.1:1/v1', model: 'large' };
const TINY = { ...LARGE, model: 'tiny' };

let desk: EnginesDesk;
beforeEach(async () => {
  desk = await openEnginesDesk();
  await desk.configure({ $schema: './s.json', recognize: [LARGE, TINY, 'pocketsphinx'], translate: [TINY] });
});

describe('vloc engines remove', () => {
  it.each([
    [
      ['recognize', 'openai', 'large'],
      [TINY, 'pocketsphinx'],
    ],
    [
      ['recognize', '2'],
      [LARGE, 'pocketsphinx'],
    ],
    [
      ['recognize', 'pocketsphinx'],
      [LARGE, TINY],
    ],
  ])('%j leaves %j', async (words, left) => {
    const { code, stdout } = await desk.run(['remove', ...words, '-o', 'json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ step: 'recognize', engine: expect.any(String) });
    expect(await desk.saved()).toEqual({ $schema: './s.json', recognize: left, translate: [TINY] });
  });

  it('uses the built-in engine again when the last other one is removed', async () => {
    await desk.run(['remove', 'translate', 'tiny']);
    expect(await desk.saved()).toEqual({ $schema: './s.json', recognize: [LARGE, TINY, 'pocketsphinx'] });
  });

  it.each([
    [['recognize', 'openai'], 'several engines match: 1, 2\n  Write the position of one.'],
    [['recognize', 'huge'], 'Available: 1 openai large, 2 openai tiny, 3 pocketsphinx.'],
    [['recognize', '4'], 'there is no engine "4" to recognize'],
    [['recognize'], 'an engine is missing'],
    [['speak', 'espeak-ng'], 'no engine is configured to speak'],
    [['sing', '1'], 'there is no step "sing"'],
  ])('refuses %j', async (words, message) => {
    const before = await desk.saved();
    const { code, stderr } = await desk.run(['remove', ...words]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(await desk.saved()).toEqual(before);
  });

  it('needs the file that --engines names', async () => {
    const { code, stderr } = await desk.run(['remove', 'recognize', '1', '--engines', 'none.json']);
    expect([code, stderr]).toEqual([4, expect.stringContaining('there is no such file')]);
  });
});
