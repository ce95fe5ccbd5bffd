/** What a plan takes from outside, and folders of small files to plan for. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { Failure } from '../../../src/base/failure.ts';
import { readDelivery } from '../../../src/batch/inputs/delivery.ts';
import type { PlanIo, PlanRequest } from '../../../src/batch/inputs/plan-request.ts';
import type { BatchPlan } from '../../../src/batch/plan/batch-plan.ts';
import type { Choices, Recorded } from '../../../src/batch/plan/decision.ts';
import { collectBatch, decideBatch } from '../../../src/batch/plan/plan.ts';
import type { BatchRecord } from '../../../src/batch/records/batch-records.ts';
import { recordedResults } from '../../../src/batch/records/other-journals.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { recordsOf } from '../records/support/records-of.ts';

/** The mark of an MP4; nothing here reads further. */
export const MP4 = Buffer.from('\0\0\0\x20ftypisom\0\0\0\0');
export const SRT = '1\n00:00:01,000 --> 00:00:02,000\nHello\n';
export const NOW = Date.parse('2026-11-21T12:00:00Z');

/** A folder with these files, removed after the test. */
export function createFolder(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = makeFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

export function createPlanIo(cwd: string, more: Partial<PlanIo> & { typed?: string } = {}): PlanIo {
  const { typed = '', ...rest } = more;
  return {
    cwd,
    stdin: Readable.from([Buffer.from(typed)]),
    examineVideo: async () => ({ type: 'usable', seconds: 61, preparation: null }),
    examineLines: async () => ({ type: 'usable', parts: null }),
    freeBytes: async () => null,
    ...rest,
  };
}

/** What earlier runs did, and how the command treats it. */
export interface History {
  readonly recorded: Recorded;
  readonly choices: Choices;
}

export function createHistory(
  records: readonly BatchRecord[] = [],
  choices: Partial<History['choices']> = {},
): History {
  return {
    recorded: recordsOf(records),
    choices: {
      now: NOW,
      fresh: false,
      replace: false,
      retryFailed: false,
      hashFile: () => Promise.reject(new Error('no file should have to be read')),
      ...choices,
    },
  };
}

export interface Planning {
  readonly kind?: PlanRequest['kind'];
  readonly options?: Readonly<Record<string, unknown>>;
  readonly io?: Parameters<typeof createPlanIo>[1];
  readonly history?: History;
}

/** Plans a localization to Catalan by default. */
export async function plan(
  cwd: string,
  operands: readonly string[],
  more: Planning = {},
): Promise<BatchPlan> {
  const { kind = 'auto_localization', options = {}, io = {}, history = createHistory() } = more;
  const { recorded, choices } = history;
  const request: PlanRequest = {
    kind,
    operands,
    options: { to: ['ca'], ...options },
    body: {},
    problems: [],
  };
  const planIo = createPlanIo(cwd, io);
  const results = recordedResults(recorded, readDelivery(kind, request.options, planIo).folder);
  const collected = await collectBatch(request, planIo, results);
  const decided = await decideBatch(collected, recorded, choices, planIo);
  return { ...decided, notes: [...collected.notes, ...decided.notes] };
}

/** `pointer: detail` of every problem that a plan names. */
export async function problemsOf(planned: Promise<unknown>): Promise<string[]> {
  const failure = await planned.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(failure instanceof Failure)) throw failure ?? new Error('the plan was fine');
  return (failure.facts.errors ?? []).map(({ pointer, detail }) => `${pointer}: ${detail}`);
}

export function namesOf({ planned }: BatchPlan): string[] {
  return planned.map(({ item }) => item.input.name);
}
