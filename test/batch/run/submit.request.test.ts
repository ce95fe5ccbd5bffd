import { describe, expect, it } from 'vitest';
import { type Attempt, advanceAttempt, createAttempt } from '../../../src/batch/records/attempts.ts';
import { buildRequest, digestRequest, rebuildRequest, withoutLines } from '../../../src/batch/run/submit.ts';
import type { SubtitleInput } from '../../../src/protocol/request-types.ts';
import { linesItem } from './support/items.ts';

const item = linesItem(1, { callback_url: 'https://hooks.example/?secret=1' });
const lines: SubtitleInput = {
  type: 'lines',
  lines: item.input.type === 'lines' ? [...item.input.lines] : [],
};

/** The record of a request as a later run reads it. */
function journaled(source: SubtitleInput): Attempt {
  const request = buildRequest(item, source, 'vloc:1:2');
  const record = createAttempt({
    key: 'k',
    asked_at: '2026-11-01T00:00:00.000Z',
    kind: item.kind,
    item: item.key,
    body_sha256: digestRequest(request),
    request: withoutLines(request),
    input_sha256: null,
    is_free: false,
  });
  return JSON.parse(JSON.stringify(advanceAttempt(undefined, record)));
}

describe('a request', () => {
  it('carries the reference of the item, unless there is one already', () => {
    expect(buildRequest(item, lines, 'vloc:1:2').client_reference).toBe('vloc:1:2');
    const own = linesItem(1, { client_reference: 'lesson' });
    expect(buildRequest(own, lines, 'vloc:1:2').client_reference).toBe('lesson');
  });

  it('is stored without lines and secrets, and rebuilt byte by byte', () => {
    const record = journaled(lines);
    expect(JSON.stringify(record)).not.toContain('line 1');
    expect(JSON.stringify(record)).not.toContain('secret');
    const again = rebuildRequest(item, record, null);
    expect(again === null ? '' : digestRequest(again)).toBe(record.body_sha256);
    expect(again).toEqual(buildRequest(item, lines, 'vloc:1:2'));
  });

  it('for an upload needs nothing but the record', () => {
    const plain = linesItem(1);
    const upload = { type: 'upload', upload_id: 'upl_1' } as const;
    const request = buildRequest(plain, upload, 'vloc:1:2');
    const record = { ...journaled(lines), request, body_sha256: digestRequest(request) };
    expect(rebuildRequest(linesItem(2), record, null)).toEqual(request);
  });

  it('is not rebuilt from other lines', () => {
    expect(rebuildRequest(linesItem(2), journaled(lines), null)).toBeNull();
    expect(rebuildRequest(linesItem(1), journaled(lines), null)).toBeNull();
  });
});
