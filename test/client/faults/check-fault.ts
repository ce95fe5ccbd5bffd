/** Runs a command with a fault, and checks everything that must hold afterwards. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { EXIT_CODES } from '../../../src/base/exit-codes.ts';
import { isTerminal, type JobStatus } from '../../../src/protocol/states.ts';
import { until } from '../../service/harness/scene.ts';
import type { FaultEnvironment } from './environment.ts';
import type { ExpectedExits, Fault } from './faults.ts';
import { REQUEST_ID } from './faulty-responses.ts';
import { isLocalizationStep, runWithFault } from './run-with-fault.ts';
import { MP4, type RunResult, type Scenario } from './scenario.ts';
import type { Step } from './steps.ts';

function expectedExit(step: Step, exits: ExpectedExits) {
  if (step === 'put' || step === 'download') return exits[step];
  return step === 'pollUpload' || step === 'pollJob' ? (exits.poll ?? exits.api) : exits.api;
}

function createScenarioFor(environment: FaultEnvironment, fault: Fault): Promise<Scenario> {
  const scheme = fault.name.startsWith('a certificate') ? 'https' : 'http';
  return environment.createScenario(scheme, fault.name.startsWith('EAI_AGAIN') ? 'localhost' : '127.0.0.1');
}

/** Checks what holds for every exit. */
function expectCleanOutput(scenario: Scenario, { stdout, stderr, code }: RunResult): void {
  const said = stdout + stderr;
  expect(said).not.toMatch(/^\s+at .*:\d+:\d+/m);
  expect(said).not.toMatch(/undefined|INTERNAL_DEFECT|signature=/i);
  expect(said).not.toContain(scenario.secret);
  const errors = stderr.split('\n').filter((line) => line.startsWith('{"error"'));
  expect(errors).toHaveLength(code === 0 ? 0 : 1);
}

/** Checks that there is at most one intent and one job, and one charge for each job that succeeded. */
async function expectPaidOnce({ caller, proxy }: Scenario): Promise<void> {
  // A run that gave up may leave a running job, which may still be charged: wait until it has ended.
  const jobs = await until(
    async () => (await caller.get('/v1/auto-localizations')).json.data,
    (all) => all.every(({ status }: { status: JobStatus }) => isTerminal(status)),
  );
  const charges = (await caller.get('/v1/credit-transactions')).json.data;
  const creates = proxy.seen.filter(({ step }) => step === 'createJob');
  const intents = new Set(creates.map(({ headers }) => headers['idempotency-key']));
  expect(intents.size).toBeLessThanOrEqual(1);
  expect(jobs.length).toBeLessThanOrEqual(intents.size);
  const succeeded = jobs.filter(({ status }: { status: string }) => status === 'succeeded');
  expect(charges.length).toBe(succeeded.length);
}

/** Checks that the result file is complete, whatever storage answered: the engines return the video unchanged. */
async function expectWholeResult({ folder }: Scenario, { code }: RunResult, step: Step): Promise<void> {
  const found = await readFile(join(folder, 'talk.es.mp4')).catch(() => null);
  if (code === 0 && isLocalizationStep(step)) expect(found).not.toBeNull();
  if (found !== null) expect(MP4.equals(found)).toBe(true);
  expect(MP4.equals(await readFile(join(folder, 'talk.mp4')))).toBe(true);
}

/** Names of headers that only the service may receive, among those that reached the other host. */
export function leakedHeaders(environment: FaultEnvironment): string[] {
  const names = environment.foreign.flatMap((headers) => Object.keys(headers));
  return names.filter((name) => /^x-service|idempotency/.test(name));
}

function requestIdOf({ stderr }: RunResult): unknown {
  const line = stderr.split('\n').find((each) => each.startsWith('{"error"'));
  return line === undefined ? null : JSON.parse(line).error.request_id;
}

/**
 * Runs one combination of fault and step, and checks the result.
 * @param times how often the fault happens
 * @param exits expected exits of the run
 */
export async function checkFault(
  environment: FaultEnvironment,
  fault: Fault,
  step: Step,
  times: number,
  exits: ExpectedExits,
): Promise<void> {
  const scenario = await createScenarioFor(environment, fault);
  const ended = await runWithFault(scenario, fault, step, times);
  expect(ended.met).toBe(true);
  // With stderr, a wrong code is explained.
  expect([ended.code, ended.stderr]).toEqual([EXIT_CODES[expectedExit(step, exits)].code, ended.stderr]);
  expectCleanOutput(scenario, ended);
  await expectPaidOnce(scenario);
  await expectWholeResult(scenario, ended, step);
  if (fault.hasRequestId && ended.code !== 0 && step !== 'put' && step !== 'download') {
    expect(requestIdOf(ended)).toBe(REQUEST_ID);
  }
}
