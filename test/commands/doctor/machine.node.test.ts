import { expect, it } from 'vitest';
import { checkNode } from '../../../src/commands/doctor/machine.ts';

it.each([
  ['22.19.0', 'ok'],
  ['22.18.9', 'fail'],
  ['24.0.0', 'ok'],
  ['20.99.1', 'fail'],
])('Node %s is %s', (version, grade) => {
  expect(checkNode(version, '>=22.19')).toMatchObject({ grade });
});

it('the version of Node is compared with the one that the package requires', () => {
  expect(checkNode('18.0.0').message).toMatch(/^Node 18\.0\.0 is too old, >=\d+/);
});
