import { expect, it } from 'vitest';
import { judgeNode } from '../../../src/commands/doctor/runtime.ts';

it.each([
  ['22.19.0', 'ok'],
  ['22.18.9', 'fail'],
  ['24.0.0', 'ok'],
  ['20.99.1', 'fail'],
])('Node %s is %s', (version, grade) => {
  expect(judgeNode(version, '>=22.19')).toMatchObject({ grade });
});

it('is held against what the package asks for', () => {
  expect(judgeNode('18.0.0').message).toMatch(/^Node 18\.0\.0 is too old, >=\d+/);
});
