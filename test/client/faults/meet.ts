/** Lets a run meet a fault, and holds what must hold then against it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { EXIT_CODES } from '../../../src/errors/exit-codes.ts';
import { isTerminal, type JobStatus } from '../../../src/protocol/states.ts';
import { until } from '../../service/harness/scene.ts';
import type { Ends, Fault } from './faults.ts';
import { isOfLocalization, play } from './play.ts';
import { REQUEST_ID } from './spoilt-answers.ts';
import { type Ended, MP4, type Stage } from './stage.ts';
import type { Step } from './steps.ts';
import type { Theatre } from './theatre.ts';

function endAt(step: Step, ends: Ends) {
  if (step === 'put' || step === 'download') return ends[step];
  return step === 'pollUpload' || step === 'pollJob' ? (ends.poll ?? ends.api) : ends.api;
}

function setFor(theatre: Theatre, fault: Fault): Promise<Stage> {
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
  // A run that has given up may leave a job behind that still works; until it ends, its charge may come in between.
  const jobs = await until(
    async () => (await caller.get('/v1/auto-localizations')).json.data,
    (all) => all.every(({ status }: { status: JobStatus }) => isTerminal(status)),
  );
  const charges = (await caller.get('/v1/credit-transactions')).json.data;
  const creates = line.seen.filter(({ step }) => step === 'createJob');
  const intents = new Set(creates.map(({ headers }) => headers['idempotency-key']));
  expect(intents.size).toBeLessThanOrEqual(1);
  expect(jobs.length).toBeLessThanOrEqual(intents.size);
  const succeeded = jobs.filter(({ status }: { status: string }) => status === 'succeeded');
  expect(charges.length).toBe(succeeded.length);
}

/** A file with the name of the result holds the result, whatever storage has answered meanwhile: the engines give the video back. */
async function expectWholeResult({ folder }: Stage, { code }: Ended, step: Step): Promise<void> {
  const found = await readFile(join(folder, 'talk.es.mp4')).catch(() => null);
  if (code === 0 && isOfLocalization(step)) expect(found).not.toBeNull();
  if (found !== null) expect(MP4.equals(found)).toBe(true);
  expect(MP4.equals(await readFile(join(folder, 'talk.mp4')))).toBe(true);
}

/** Names of headers that only the service may see, among those that reached the other host. */
export function toldToStranger(theatre: Theatre): string[] {
  const names = theatre.foreign.flatMap((headers) => Object.keys(headers));
  return names.filter((name) => /^x-service|idempotency/.test(name));
}

function requestIdOf({ stderr }: Ended): unknown {
  const line = stderr.split('\n').find((each) => each.startsWith('{"error"'));
  return line === undefined ? null : JSON.parse(line).error.request_id;
}

/**
 * Plays one cell.
 * @param times how often the fault happens
 * @param ends what the run must end as
 */
export async function meet(
  theatre: Theatre,
  fault: Fault,
  step: Step,
  times: number,
  ends: Ends,
): Promise<void> {
  const stage = await setFor(theatre, fault);
  const ended = await play(stage, fault, step, times);
  expect(ended.met).toBe(true);
  // The text shows why, should the code be another.
  expect([ended.code, ended.stderr]).toEqual([EXIT_CODES[endAt(step, ends)].code, ended.stderr]);
  expectDecent(stage, ended);
  await expectPaidOnce(stage);
  await expectWholeResult(stage, ended, step);
  if (fault.traced && ended.code !== 0 && step !== 'put' && step !== 'download') {
    expect(requestIdOf(ended)).toBe(REQUEST_ID);
  }
}
