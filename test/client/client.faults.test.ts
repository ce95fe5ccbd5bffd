/** Every fault at every step of a run: success after a retry, or the documented exit code; never a second job. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXIT_CODES } from '../../src/cli/exit-codes.ts';
import { FAULTS, type Ends, type Fault } from './faults/faults.ts';
import { play } from './faults/play.ts';
import { REQUEST_ID } from './faults/spoilt-answers.ts';
import type { Ended, Stage } from './faults/stage.ts';
import { STEPS, type Step } from './faults/steps.ts';
import { openTheatre, type Theatre } from './faults/theatre.ts';

let theatre: Theatre;
beforeAll(async () => {
  theatre = await openTheatre();
});
afterAll(() => theatre.close());

function endAt(step: Step, ends: Ends) {
  return step === 'put' || step === 'download' ? ends[step] : ends.api;
}

function setFor(fault: Fault): Promise<Stage> {
  const scheme = fault.name.startsWith('a certificate') ? 'https' : 'http';
  return theatre.set(scheme, fault.name.startsWith('EAI_AGAIN') ? 'localhost' : '127.0.0.1');
}

/** What holds however a run ends. */
function expectDecent(stage: Stage, { stdout, stderr, code }: Ended): void {
  const said = stdout + stderr;
  expect(said).not.toMatch(/^\s+at .*:\d+:\d+/m);
  expect(said).not.toMatch(/undefined|INTERNAL_DEFECT|signature=/i);
  expect(said).not.toContain(stage.secret);
  const errors = stderr.split('\n').filter((line) => line.startsWith('{"error"'));
  expect(errors).toHaveLength(code === 0 ? 0 : 1);
}

/** One intent, one job, one charge; what succeeded is charged, and nothing stays reserved. */
async function expectPaidOnce({ caller, line }: Stage): Promise<void> {
  const jobs = (await caller.get('/v1/auto-localizations')).json.data;
  const charges = (await caller.get('/v1/credit-transactions')).json.data;
  const creates = line.seen.filter(({ step }) => step === 'createJob');
  const intents = new Set(creates.map(({ headers }) => headers['idempotency-key']));
  expect(intents.size).toBeLessThanOrEqual(1);
  expect(jobs.length).toBeLessThanOrEqual(intents.size);
  const succeeded = jobs.filter(({ status }: { status: string }) => status === 'succeeded');
  expect(charges.length).toBe(succeeded.length);
}

function expectNothingTold(): void {
  const names = theatre.foreign.splice(0).flatMap((headers) => Object.keys(headers));
  expect(names.filter((name) => /^x-service|idempotency/.test(name))).toEqual([]);
}

function requestIdOf({ stderr }: Ended): unknown {
  const line = stderr.split('\n').find((each) => each.startsWith('{"error"'));
  return line === undefined ? null : JSON.parse(line).error.request_id;
}

describe.each(FAULTS)('$name', (fault) => {
  test.each(STEPS)('once at %s', async (step) => {
    const stage = await setFor(fault);
    const ended = await play(stage, fault, step, 1);
    expect([ended.code, ended.stderr]).toEqual([EXIT_CODES[endAt(step, fault.once)].code, ended.stderr]);
    expectDecent(stage, ended);
    await expectPaidOnce(stage);
    expectNothingTold();
    if (fault.traced && ended.code !== 0 && step !== 'put' && step !== 'download') {
      expect(requestIdOf(ended)).toBe(REQUEST_ID);
    }
  });
});
