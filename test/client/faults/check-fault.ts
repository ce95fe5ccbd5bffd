/** Runs a command with a fault, and checks everything that must hold afterwards. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { EXIT_CODES } from '../../../src/base/exit-codes.ts';
import { isTerminal, type JobStatus } from '../../../src/protocol/states.ts';
import { DUBBING, until } from '../../service/harness/scene.ts';
import type { Ended } from '../../support/run-main.ts';
import type { FaultEnvironment } from './environment.ts';
import type { ExpectedExits, Fault } from './faults.ts';
import { REQUEST_ID } from './faulty-responses.ts';
import { MP4, type Scenario } from './scenario.ts';
import { beginsRun, type Step, waitsBefore } from './steps.ts';

function expectedExit(step: Step, exits: ExpectedExits) {
  if (step === 'put' || step === 'download') return exits[step];
  return step === 'pollUpload' || step === 'pollJob' ? (exits.poll ?? exits.api) : exits.api;
}

function createScenarioFor(environment: FaultEnvironment, fault: Fault): Promise<Scenario> {
  const scheme = fault.name.startsWith('a certificate') ? 'https' : 'http';
  return environment.createScenario(scheme, fault.name.startsWith('EAI_AGAIN') ? 'localhost' : '127.0.0.1');
}

/** Checks what holds for every exit. */
function expectCleanOutput(scenario: Scenario, { stdout, stderr, code }: Ended): void {
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
async function expectWholeResult({ folder }: Scenario, { code }: Ended, step: Step): Promise<void> {
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

function requestIdOf({ stderr }: Ended): unknown {
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

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es', '-o', 'json'];

const COMMANDS: Readonly<Partial<Record<Step, readonly string[]>>> = {
  credits: ['credits', '-o', 'json'],
  list: ['jobs', 'list', '--kind', 'dubbing', '-o', 'json'],
};

interface FaultRun extends Ended {
  /** True if the run reached the fault. */
  readonly met: boolean;
}

interface InjectedFault {
  met(): boolean;
  end(): Promise<void>;
}

/** True if the step belongs to a run with a result. */
function isLocalizationStep(step: Step): boolean {
  return step !== 'cancel' && COMMANDS[step] === undefined;
}

/** Runs the command of the step with a fault that occurs this many times. */
async function runWithFault(scenario: Scenario, fault: Fault, step: Step, times: number): Promise<FaultRun> {
  const words = step === 'cancel' ? await cancelCommand(scenario) : (COMMANDS[step] ?? LOCALIZE);
  scenario.proxy.seen.length = 0;
  const injected = await injectFault(scenario, fault, step, times);
  try {
    return { ...(await scenario.run(words)), met: injected.met() };
  } finally {
    await injected.end();
    scenario.proxy.faultFor = () => null;
    scenario.proxy.beforeStep = null;
    scenario.engines.letGo();
  }
}

/** Creates a job that runs until the end of the test; returns the command that cancels it. */
async function cancelCommand(scenario: Scenario): Promise<readonly string[]> {
  scenario.engines.hold();
  const { json } = await scenario.caller.post('/v1/dubbings', DUBBING);
  return ['jobs', 'cancel', `dubbings/${json.id}`, '-o', 'json'];
}

async function injectFault(
  scenario: Scenario,
  fault: Fault,
  step: Step,
  times: number,
): Promise<InjectedFault> {
  const { proxy } = scenario;
  const { does } = fault;
  let met = false;
  if (does.type === 'answer') {
    let left = times;
    proxy.faultFor = (asked) => {
      if (asked !== step || left === 0) return null;
      left -= 1;
      met = true;
      return async (exchange) => {
        await does.respond(exchange);
        if (does.isSilent === true) scenario.expireTimeouts();
      };
    };
    return { met: () => met, end: async () => {} };
  }
  let undo: (() => Promise<void>) | null = null;
  const begin = async () => {
    met = true;
    undo = await does.begin(scenario);
  };
  const end = async () => {
    await undo?.();
    undo = null;
  };
  if (beginsRun(step)) await begin();
  else proxy.beforeStep = { step, run: begin };
  // A single fault ends at the first wait after a request met it.
  let waits = waitsBefore(step) ? 2 : 1;
  if (times === 1) {
    scenario.onSleep = async () => {
      if (undo !== null) waits -= 1;
      if (waits === 0) await end();
    };
  }
  return { met: () => met, end };
}
