/** The service that the tests here use keeps the rules of the specification itself: else they would test against nothing real. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NEEDS } from '../conformance/rule.ts';
import { RULES } from '../conformance/rules.ts';
import { NOT_SPECIFIED, runRule } from '../conformance/run-rule.ts';
import { describeService, type ServiceUnderTest } from '../conformance/service.ts';
import { type Hosted, startHosted } from './service.ts';
import { VARIANTS } from './variants.ts';

/** Why a rule may be left out here; any other reason is a failure. */
const LEFT_OUT: readonly string[] = [...Object.values(NEEDS), NOT_SPECIFIED];

const sections = Map.groupBy(RULES, ({ id }) => id.split('.', 1)[0] ?? '');

describe.each(['minimal', 'generous'] as const)('the service %s', (variant) => {
  let hosted: Hosted;
  let service: ServiceUnderTest;
  beforeAll(async () => {
    hosted = await startHosted(VARIANTS[variant], new Set(), { credits: 10_000 });
    const bytes = await readFile(new URL('../fixtures/two-seconds.mp4', import.meta.url));
    const media = { purpose: 'source_video', name: 'sample.mp4', contentType: 'video/mp4', bytes } as const;
    service = describeService({
      baseUrl: hosted.baseUrl,
      credentials: hosted.account,
      headerPrefix: hosted.account.prefix,
      strict: false,
      languages: { source: 'en', target: 'es' },
      supplies: {
        jobs: true,
        media,
        mediaUrl: null,
        ffmpeg: null,
        otherKey: hosted.issueKey(),
        webhooks: null,
      },
      admin: null,
      now: Date.now,
      patience: { everyMs: 1, atMostMs: 60_000, withLimits: false },
    });
  });
  afterAll(() => hosted.close());

  it.each([...sections])('keeps the rules of the specification about %s', async (_name, rules) => {
    const broken: string[] = [];
    for (const rule of rules) {
      const outcome = await runRule(rule, service);
      if (outcome.status === 'passed' || LEFT_OUT.includes(outcome.reason)) continue;
      broken.push(`${rule.id}: ${outcome.reason}`);
    }
    expect(broken).toEqual([]);
  });
});
