/** Tests the suite itself: a rule fails against a service that breaks it. */
import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { startImpostor } from './harness/impostor.ts';
import { RULES } from './rules.ts';
import { type Outcome, runRule } from './run-rule.ts';
import { describeService, type ServiceUnderTest, type UploadFile } from './service.ts';

const VIDEO: UploadFile = {
  purpose: 'source_video',
  name: 'a.mp4',
  contentType: 'video/mp4',
  bytes: Buffer.from('no video'),
};

/** Describes a service that answers every request in this way. */
async function describeImpostor(answer: RequestListener, strict = true): Promise<ServiceUnderTest> {
  return describeService({
    baseUrl: await startImpostor(answer),
    credentials: { key: 'a-key', secret: 'a-secret' },
    headerPrefix: 'X-Service',
    strict,
    languages: { source: 'en', target: 'es' },
    supplies: {
      jobs: true,
      media: VIDEO,
      mediaUrl: 'https://media.example.com/a.mp4',
      ffmpeg: async () => VIDEO,
      otherKey: { key: 'another-key', secret: 'another-secret' },
      webhooks: null,
    },
    admin: null,
    now: Date.now,
    patience: { everyMs: 1, atMostMs: 100, withLimits: false },
  });
}

async function runAll(service: ServiceUnderTest): Promise<{ id: string; outcome: Outcome }[]> {
  const results = [];
  for (const rule of RULES) results.push({ id: rule.id, outcome: await runRule(rule, service) });
  return results;
}

const idsWith = (status: Outcome['status'], results: Awaited<ReturnType<typeof runAll>>) =>
  results.filter(({ outcome }) => outcome.status === status).map(({ id }) => id);

/** All rules in sequence, while other tests run on the machine. */
const WHOLE_SUITE = { timeout: 180_000 };

test(
  'no rule passes on a service that answers 200 and an empty object to everything',
  WHOLE_SUITE,
  async () => {
    const service = await describeImpostor((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json', Connection: 'close' }).end('{}');
    });
    const results = await runAll(service);
    expect(idsWith('passed', results)).toEqual([]);
    expect(idsWith('failed', results).length).toBeGreaterThan(RULES.length / 2);
  },
);

test('no rule passes on a service that refuses everything without a message', WHOLE_SUITE, async () => {
  const service = await describeImpostor((_request, response) => {
    response.writeHead(400, { Connection: 'close' }).end();
  });
  expect(idsWith('passed', await runAll(service))).toEqual([]);
});

test(
  'a tolerant run skips our own decisions, and rules that could not be prepared',
  WHOLE_SUITE,
  async () => {
    const service = await describeImpostor((_request, response) => {
      const type = { 'Content-Type': 'application/problem+json', Connection: 'close' };
      response.writeHead(422, type).end('{"code":"OTHER_SHAPE"}');
    }, false);
    const results = await runAll(service);
    const contract = RULES.filter(({ strictness }) => strictness === 'contract').map(({ id }) => id);
    const skipped = idsWith('skipped', results);
    expect(contract.filter((id) => !skipped.includes(id))).toEqual([]);
    const created = results.find(({ id }) => id === 'operations.createDubbing.202');
    expect(created?.outcome).toMatchObject({
      status: 'skipped',
      reason: expect.stringContaining('OTHER_SHAPE'),
    });
  },
);
