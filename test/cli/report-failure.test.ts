import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { reportFailure } from '../../src/cli/report-failure.ts';
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

async function report(json: boolean): Promise<string> {
  const { io, stderr } = createTestIo();
  await reportFailure(failure, io, {
    output: json ? 'json' : undefined,
    jq: undefined,
    fields: [],
    color: 'auto',
  });
  return stderr();
}

describe('a failure on stderr', () => {
  it('names the cause, the fields, what to do, and the ids for support', async () => {
    const rows = (await report(false)).trimEnd().split('\n');
    expect(rows[0]).toMatch(/^✖ the title is/);
    expect(rows[1]).toContain('/source');
    expect(rows[2]).toBe('  Choose another input.');
    expect(rows[3]).toBe('  INPUT_NOT_USABLE · loc_1 · req_1');
  });

  it.each([false, true])('contains no escape sequence (json %s)', async (json) => {
    const text = await report(json);
    for (const control of ['\u001b', '\u0007']) expect(text).not.toContain(control);
    if (!json) expect(text).not.toContain('\u202e');
  });

  it('is one JSON object on one line for programs', async () => {
    const text = await report(true);
    expect(text.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(text)).toMatchObject({
      error: { code: 'INPUT_NOT_USABLE', request_id: 'req_1', job_id: 'loc_1' },
    });
  });
});
