import { describe, expect, it } from 'vitest';
import {
  choiceOption,
  durationOption,
  flagOption,
  listOption,
  numberOption,
  type OptionTable,
  pairsOption,
  textOption,
  textsOption,
} from '../../../src/base/option.ts';
import { decodeOptions } from '../../../src/commands/context/command.ts';

describe('the options of a table', () => {
  const TABLE = {
    fresh: flagOption(''),
    out: textOption('dir', ''),
    to: listOption('tags', ''),
    include: textsOption('glob', ''),
    set: pairsOption('name=value', ''),
    jobs: numberOption('n', ''),
    timeout: durationOption(''),
    order: choiceOption(['size', 'name'], ''),
    form: choiceOption(['auto', 'dot'], '', { default: 'auto' }),
  } as const satisfies OptionTable;

  const GIVEN = {
    fresh: true,
    out: 'out',
    to: ['es', 'ca'],
    include: ['*.mp4'],
    set: { a: '1' },
    jobs: 3,
    timeout: 90_000,
    order: 'size',
    form: 'dot',
  } as const;

  it('keep the values that their rows accept', () => {
    expect(decodeOptions(TABLE, GIVEN)).toEqual(GIVEN);
  });

  it.each([
    ['missing', {}],
    ['null, as in a journal', { out: null, to: null, form: null }],
  ])('have the empty value of their type when they are %s', (_why, raw) => {
    expect(decodeOptions(TABLE, raw)).toEqual({
      fresh: false,
      out: undefined,
      to: [],
      include: [],
      set: {},
      jobs: undefined,
      timeout: undefined,
      order: undefined,
      form: 'auto',
    });
  });

  it('omit names that the table does not have', () => {
    expect(decodeOptions(TABLE, { renewExpired: true })).not.toHaveProperty('renewExpired');
  });

  it.each([
    [{ fresh: 'yes' }, '--fresh cannot be "yes"'],
    [{ out: 1 }, '--out cannot be 1'],
    [{ to: 'es' }, '--to cannot be "es"'],
    [{ include: [1] }, '--include cannot be [1]'],
    [{ set: { a: 1 } }, '--set cannot be {"a":1}'],
    [{ jobs: '3' }, '--jobs cannot be "3"'],
    [{ order: 'age' }, '--order cannot be "age"'],
  ])('are refused with a value of another type: %j', (raw, message) => {
    expect(() => decodeOptions(TABLE, raw)).toThrowError(expect.objectContaining({ message }));
  });
});
