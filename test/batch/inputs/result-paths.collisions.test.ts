import { describe, expect, it } from 'vitest';
import { findClashes } from '../../../src/batch/inputs/delivery.ts';
import { createFolder, MP4, plan, problemsOf } from '../plan/support.ts';

describe('two results', () => {
  it.each([
    ['/out/a.mp4', '/out/A.mp4', 'on many disks is the same file as /out/a.mp4 of one'],
    ['/out/caf\u00e9', '/out/cafe\u0301', 'on many disks'],
  ])('at %s and %s collide', (first, second, said) => {
    const problems = findClashes([
      { label: 'one', path: first },
      { label: 'two', path: second },
    ]);
    expect(problems).toEqual([{ pointer: 'two', detail: expect.stringContaining(said) }]);
  });
});

it('no result overwrites an input, not even with --clobber', async () => {
  const cwd = createFolder({ 'a.mp4': MP4 });
  const options = { name: '{stem}{ext}', clobber: true };
  expect(await problemsOf(plan(cwd, ['a.mp4'], { options }))).toEqual([
    expect.stringMatching(/^a\.mp4 → ca: would overwrite the input/),
  ]);
});

it('an invalid template is reported once, beside other problems', async () => {
  const cwd = createFolder({ 'a.mp4': MP4, 'b.mp4': MP4 });
  const problems = await problemsOf(plan(cwd, ['a.mp4', 'b.mp4', 'c.mp4'], { options: { name: '{what}' } }));
  expect(problems.map((each) => each.split(':')[0])).toEqual(['c.mp4', '--name']);
});
