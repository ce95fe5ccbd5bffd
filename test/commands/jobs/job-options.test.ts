import { describe, expect, it } from 'vitest';
import { factsOf } from '../../../src/base/option.ts';
import { flagName } from '../../../src/batch/inputs/field-flags.ts';
import { decodeOptions } from '../../../src/commands/context/command.ts';
import { fieldOptions, jobTable } from '../../../src/commands/jobs/job-options.ts';
import { collectJobs } from '../../../src/commands/jobs/plan-jobs.ts';
import { COMMON_FIELDS, type Field } from '../../../src/protocol/fields.ts';
import { JOB_KIND_NAMES } from '../../../src/protocol/kind-names.ts';
import { KINDS } from '../../../src/protocol/kinds.ts';
import { createTestIo } from '../../support/test-io.ts';

/** A value of the field that is not its default. */
function otherThanDefault(field: Field): string {
  if (field.type === 'choice') return field.choices.find((choice) => choice !== field.default) ?? '';
  if (field.type === 'language') return 'es';
  return field.type === 'callback' ? 'https://example.com/hook' : 'lesson-4';
}

describe.each(JOB_KIND_NAMES)('the flags of %s', (kind) => {
  const fields: Record<string, Field> = { ...KINDS[kind].fields, ...COMMON_FIELDS };
  const asked = Object.entries(fields).filter(([, { type }]) => type !== 'source' && type !== 'subtitle');

  it('are one for each request field, except the one of the operand', () => {
    const options = fieldOptions(kind);
    expect(options.map(({ field }) => field)).toEqual(asked.map(([name]) => name));
    const table = Object.keys(jobTable(kind));
    for (const { name } of options) expect(table).toContain(name);
    expect(new Set(table.map(flagName)).size).toBe(table.length);
  });

  it('set the field of their name in the request', async () => {
    const given = fieldOptions(kind).map(({ field, name, option }) => {
      const row = fields[field];
      const value = row === undefined ? '' : otherThanDefault(row);
      return [name, factsOf(option).type === 'list' ? [value] : value];
    });
    const terminal = { note: () => undefined, warn: () => undefined };
    const context = { io: createTestIo().io, signal: new AbortController().signal, terminal, service: {} };
    const options = decodeOptions(jobTable(kind), Object.fromEntries(given));
    const { items } = await collectJobs(kind, ['upl_1'], options, context);
    expect(items[0]?.item.fields).toEqual(
      Object.fromEntries(asked.map(([name, field]) => [name, otherThanDefault(field)])),
    );
  });
});
