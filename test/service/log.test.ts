import { describe, expect, it } from 'vitest';
import { createLogWriter } from '../../src/service/log.ts';

const RECORD = {
  requestId: 'req_1',
  method: 'GET',
  template: '/v1/uploads/{upload_id}',
  operationId: 'getUpload',
  status: 200,
  durationMs: 3,
  keyId: 'vk_1',
  address: '192.0.2.1',
} as const;

function capture(form: 'json' | 'text') {
  const lines: string[] = [];
  const writer = createLogWriter(
    form,
    (line) => lines.push(line),
    () => Date.UTC(2026, 10, 21, 14, 5, 9),
  );
  return { lines, ...writer };
}

describe('the log as JSON', () => {
  it('has one object per request', () => {
    const { lines, onRequest } = capture('json');
    onRequest(RECORD);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        time: '2026-11-21T14:05:09.000Z',
        level: 'info',
        message: 'request',
        method: 'GET',
        path: '/v1/uploads/{upload_id}',
        operation: 'getUpload',
        status: 200,
        duration_ms: 3,
        key_id: 'vk_1',
        address: '192.0.2.1',
        request_id: 'req_1',
      },
    ]);
  });

  it('calls a 5xx an error', () => {
    const { lines, onRequest } = capture('json');
    onRequest({ ...RECORD, status: 503 });
    expect(JSON.parse(lines[0] ?? '').level).toBe('error');
  });

  it('keeps an error with its stack on one line', () => {
    const { lines, log } = capture('json');
    log({ level: 'error', message: 'a request failed', requestId: 'req_1', error: new Error('disk\nfull') });
    expect(lines[0]).not.toContain('\n');
    const { level, request_id: requestId, error } = JSON.parse(lines[0] ?? '');
    expect([level, requestId]).toEqual(['error', 'req_1']);
    expect(error).toContain('disk\nfull');
  });
});

describe('the log as text', () => {
  it('is one short line that people can read', () => {
    const { lines, onRequest, log } = capture('text');
    onRequest(RECORD);
    onRequest({ ...RECORD, template: null, status: null, keyId: null });
    log({ level: 'warn', message: 'a lease was not renewed', resourceId: 'loc_1', error: new Error('busy') });
    expect(lines).toEqual([
      '14:05:09 GET /v1/uploads/{upload_id} 200 3 ms vk_1 req_1',
      '14:05:09 GET (unknown path) gone 3 ms - req_1',
      '14:05:09 warn a lease was not renewed: busy loc_1',
    ]);
  });
});
