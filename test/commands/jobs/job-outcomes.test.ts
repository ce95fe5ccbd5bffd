import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Failure, type FailureCategory } from '../../../src/base/failure.ts';
import { createTerminal } from '../../../src/cli/terminal/terminal.ts';
import type { GlobalValues } from '../../../src/commands/context/global-options.ts';
import { outputTo } from '../../../src/commands/context/output/forms.ts';
import {
  type Outcome,
  outcomeDocument,
  outcomesFailure,
  presentOutcomes,
} from '../../../src/commands/jobs/job-outcomes.ts';
import { createTestIo } from '../../support/test-io.ts';

const done: Outcome = { label: 'a.mp4', stem: 'a', job: null, files: [], failure: null };
const failed = (category: FailureCategory): Outcome => ({
  ...done,
  label: 'b.mp4',
  failure: new Failure({ category, code: 'X', message: 'it broke', requestId: 'req_1' }),
});

describe('the end of a run', () => {
  it('is not a failure if everything succeeded', () => {
    expect(outcomesFailure([done, done])).toBeNull();
  });

  it('is the failure itself if there was one job', () => {
    const outcome = failed('expired');
    expect(outcomesFailure([outcome])).toBe(outcome.failure);
  });

  it('keeps the category if all failed alike, so that a script sees why', () => {
    expect(outcomesFailure([failed('credits'), failed('credits')])?.facts.category).toBe('credits');
  });

  it('is partial when some succeeded or the reasons differ, and names each', () => {
    expect(outcomesFailure([done, failed('credits')])?.facts.category).toBe('partial');
    const mixed = outcomesFailure([failed('job'), failed('credits')]);
    expect(mixed?.facts.category).toBe('partial');
    expect(mixed?.facts.errors).toHaveLength(2);
  });
});

it('an outcome as JSON names the error with the request id', () => {
  expect(outcomeDocument(failed('job'))).toMatchObject({
    input: 'b.mp4',
    error: { code: 'X', request_id: 'req_1' },
  });
});

describe('the table of outcomes', () => {
  const file = { asset: 'video', path: '/home/me/out/a.es.mp4', bytes: 10, sha256: null, skipped: false };
  const known = { id: 'loc_1', kind: 'auto_localization', target_language: 'es', status: 'succeeded' };
  const table = async (outcomes: readonly Outcome[], columns?: number) => {
    const { io } = createTestIo({ cwd: '/home/me' });
    const stdout = Object.assign(io.stdout, columns === undefined ? {} : { isTTY: true, columns });
    const printed: string[] = [];
    const terminal = await createTerminal(
      { ...io, stdout },
      {} as GlobalValues,
      new AbortController().signal,
    ); // none of them matters for a table
    const { present } = outputTo('table', (line) => printed.push(line), terminal);
    await present.show(presentOutcomes({ fields: null, io }, outcomes));
    return stripVTControlCharacters(printed.join('\n'));
  };

  it('has the language, and paths from the current directory', async () => {
    expect(await table([{ ...done, known, files: [file] }])).toBe(
      'INPUT  LANGUAGE  STATUS     RESULT        SIZE  JOB\n' +
        'a.mp4  es        succeeded  out/a.es.mp4  10 B  loc_1',
    );
  });

  it('shows failures before a job was created as failed', async () => {
    const text = await table([failed('usage'), { ...done, known, files: [file] }]);
    expect(text).toMatch(/b\.mp4 +- +failed +X/);
    expect(text).not.toContain('not started');
  });

  it.each([40, 80, 100])('keeps names, states and results whole at %d columns', async (columns) => {
    const label = 'lessons/week1/introduction.mp4';
    const long = { ...known, id: 'loc_01k9x2m4n6p8q0r2s4t6v8w0y2' };
    const text = await table([{ ...done, label, known: long, files: [file] }], columns);
    for (const cell of ['lessons/week1/', 'introduction.mp4', 'succeeded', 'out/a.es.mp4'])
      expect(text).toContain(cell);
    expect(text.split('\n').every((line) => line.length <= columns)).toBe(true);
  });
});
