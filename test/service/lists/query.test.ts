import { expect, test } from 'vitest';
import { Refusal } from '../../../src/service/http/refusal.ts';
import { readListQuery } from '../../../src/service/lists/query.ts';

const FILTERS = { status: { values: ['ready', 'failed'] }, client_reference: { maxLength: 128 } };

const read = (parameters: Record<string, string>) =>
  readListQuery(new Map(Object.entries(parameters)), FILTERS);

test('left out, there are 20 rows and no bounds', () => {
  expect(read({})).toEqual({
    limit: 20,
    cursor: null,
    createdAfter: null,
    createdBefore: null,
    filters: new Map(),
  });
});

test.each(['1', '50'])('limit %s is accepted', (limit) => {
  expect(read({ limit }).limit).toBe(Number(limit));
});

test.each([
  ['limit', '0'],
  ['limit', '51'],
  ['limit', '-1'],
  ['limit', '1.5'],
  ['limit', '1e1'],
  ['limit', '05'],
  ['limit', ' 5'],
  ['limit', ''],
  ['created_after', '2026-11-01'],
  ['created_after', '2026-11-01T00:00:00'],
  ['created_after', '2026-13-01T00:00:00Z'],
  ['created_before', 'now'],
  ['created_before', '1700000000'],
  ['status', 'done'],
  ['status', ''],
  ['client_reference', ''],
  ['client_reference', 'x'.repeat(129)],
  ['order', 'asc'],
  ['toString', 'x'],
])('%s=%s is refused by its name', (name, value) => {
  const attempt = () => read({ [name]: value });
  expect(attempt).toThrow(Refusal);
  try {
    attempt();
  } catch (error) {
    expect(error).toMatchObject({ code: 'INVALID_REQUEST', extras: { errors: [{ pointer: name }] } });
  }
});

test('every fault is named at once', () => {
  try {
    read({ limit: '0', order: 'asc' });
    expect.unreachable();
  } catch (error) {
    expect(error).toMatchObject({ extras: { errors: [{ pointer: 'limit' }, { pointer: 'order' }] } });
  }
});

test('the bounds must enclose something', () => {
  const at = '2026-11-01T00:00:00Z';
  expect(() => read({ created_after: at, created_before: at })).toThrow('earlier');
  const bounds = read({ created_after: at, created_before: '2026-11-01T08:00:00.001+08:00' });
  expect(bounds.createdBefore).toBe((bounds.createdAfter ?? 0) + 1);
});

test('a reference of 128 characters outside the first plane is accepted', () => {
  expect(read({ client_reference: '😀'.repeat(128) }).filters.get('client_reference')).toHaveLength(256);
});
