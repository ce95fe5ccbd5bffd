/** Rules detect errors of the service in the answers that they cover. */
import { readFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { RequestFacts, ServiceResponse } from '../../src/service/index.ts';
import { startEmbedded } from './harness/embedded.ts';
import { MUTATIONS } from './harness/mutations.ts';
import { RULES } from './rules.ts';
import { runRule } from './run-rule.ts';

const SAMPLE = new URL('../fixtures/sample.mp4', import.meta.url);
const PASSED = { status: 'passed' };

async function startWith(change: (answer: ServiceResponse, request: RequestFacts) => ServiceResponse) {
  const bytes = await readFile(SAMPLE);
  const { service, close } = await startEmbedded({
    media: { purpose: 'source_video', name: 'sample.mp4', contentType: 'video/mp4', bytes },
    mediaUrl: null,
    ffmpeg: null,
    receiver: null,
    faults: { before: async () => null, after: async (request, answer) => change(answer, request) },
  });
  onTestFinished(close);
  return service;
}

function ruleOf(id: string) {
  const rule = RULES.find((each) => each.id === id);
  if (rule === undefined) throw new Error(`there is no rule ${id}`);
  return rule;
}

test('without a mistake all of these rules pass', async () => {
  const service = await startWith((answer) => answer);
  const ids = new Set(MUTATIONS.flatMap(({ caughtBy }) => caughtBy));
  for (const id of ids) expect([id, await runRule(ruleOf(id), service)]).toEqual([id, PASSED]);
});

test.each(MUTATIONS)('$name', async ({ change, caughtBy }) => {
  const service = await startWith(change);
  for (const id of caughtBy) {
    const { status } = await runRule(ruleOf(id), service);
    expect([id, status]).toEqual([id, 'failed']);
  }
});
