import { describe, expect, it } from 'vitest';
import { reportFailure } from '../../src/cli/report-failure.ts';
import { createStyle } from '../../src/cli/terminal/style.ts';
import { Failure } from '../../src/client/failure.ts';
import { createTestIo } from '../support/test-io.ts';

const failure = new Failure({
  category: 'refused',
  code: 'INPUT_NOT_USABLE',
  message: 'the title is \u001b]0;owned\u0007',
  advice: 'Choose another input.',
  requestId: 'req_1',
  jobId: 'loc_1',
  errors: [{ pointer: '/source\u001b[2J', detail: 'bad\u202e' }],
});

function report(json: boolean): string {
  const { io, stderr } = createTestIo();
  reportFailure(failure, io, createStyle(io, 'auto'), json);
  return stderr();
}

describe('a failure on stderr', () => {
  it('says what, which fields, what to do, and the ids for support', () => {
    const rows = report(false).trimEnd().split('\n');
    expect(rows[0]).toMatch(/^✖ the title is/);
    expect(rows[1]).toContain('/source');
    expect(rows[2]).toBe('  Choose another input.');
    expect(rows[3]).toBe('  INPUT_NOT_USABLE · loc_1 · req_1');
  });

  it.each([false, true])('lets no control or reordering character through (json %s)', (json) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: looking for them is the point
    expect(report(json)).not.toMatch(json ? /[\u0000-\u0009\u001b]/ : /[\u0000-\u0009\u001b\u0007\u202e]/);
  });

  it('is one JSON object on one line for programs', () => {
    const text = report(true);
    expect(text.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(text)).toMatchObject({
      error: { code: 'INPUT_NOT_USABLE', request_id: 'req_1', job_id: 'loc_1' },
    });
  });
});
