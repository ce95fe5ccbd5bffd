import { describe, expect, it } from 'vitest';
import { flagName } from '../../../src/batch/inputs/field-flags.ts';
import { decodeOptions } from '../../../src/commands/context/command.ts';
import { filterOptions, listOptions, readListRequest } from '../../../src/commands/context/lists.ts';

/** Source: specification, "List query parameters". */
const PAGING = ['limit', 'cursor', 'created_after', 'created_before'];

describe('the options of a list', () => {
  it.each([
    ['listJobs', [...PAGING, 'status', 'client_reference']],
    ['listUploads', [...PAGING, 'status', 'purpose']],
    ['listCreditTransactions', PAGING],
  ] as const)('%s: one for each query parameter', (action, parameters) => {
    const options = filterOptions(action);
    expect(options.map(({ parameter }) => parameter)).toEqual(parameters);
    expect(Object.keys(listOptions(action))).toEqual([...options.map(({ name }) => name), 'all']);
  });

  it('have the names that people expect', () => {
    const flags = Object.keys(listOptions('listJobs')).map(flagName);
    expect(flags).toEqual([
      '--limit',
      '--cursor',
      '--since',
      '--until',
      '--status',
      '--client-reference',
      '--all',
    ]);
  });

  it('become parameters, times in UTC', () => {
    const now = Date.parse('2026-11-21T12:00:00Z');
    const options = decodeOptions(listOptions('listUploads'), {
      since: '7d',
      until: '2026-11-21T10:00:00+02:00',
      status: 'ready',
      limit: 70,
    });
    const request = readListRequest('listUploads', options, now);
    expect(request).toEqual({
      filters: {
        created_after: '2026-11-14T12:00:00.000Z',
        created_before: '2026-11-21T08:00:00.000Z',
        status: 'ready',
      },
      cursor: undefined,
      limit: 70,
    });
  });
});
