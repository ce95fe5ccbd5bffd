/** Starts the embedded service for the suite, with administrator access for the rules. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { JOB_KIND_NAMES } from '../../../src/protocol/kind-names.ts';
import { createService, type Faults, type Service, type ServiceConfig } from '../../../src/service/index.ts';
import { createMovingClock, type MovingClock } from '../../service/harness/moving-clock.ts';
import type { SmallEngines } from '../../service/harness/small-engines.ts';
import {
  type Admin,
  describeService,
  type KeyRules,
  type Means,
  type ServiceUnderTest,
  type Supplies,
  type WorkFailure,
} from '../service.ts';
import type { Receiver } from '../webhooks.ts';
import { createHarnessEngines } from './engines.ts';

export interface EmbeddedHarness {
  readonly service: ServiceUnderTest;
  /** Closes every workspace and removes their folders. */
  close(): Promise<void>;
}

const HOUR_SECONDS = 3600;
/**
 * The service runs in memory in the same process and answers in milliseconds, but reading a video of a quarter of an
 * hour takes long on a busy machine. Rules that must fail do not wait for an event that never happens.
 */
const PATIENCE = { everyMs: 5, atMostMs: 120_000, withLimits: false };
const SHORT_PATIENCE = { ...PATIENCE, atMostMs: 20_000 };

/** Supplies that the harness cannot create itself. */
export interface HarnessSupplies extends Pick<Supplies, 'media' | 'mediaUrl' | 'ffmpeg'> {
  readonly receiver: Receiver | null;
  /** Simulates faults on the network. */
  readonly faults?: Faults;
}

/** Opens a workspace with plenty of credits. */
export async function startEmbedded({
  receiver,
  faults,
  ...supplies
}: HarnessSupplies): Promise<EmbeddedHarness> {
  const inspected = new Map();
  const closers: (() => Promise<void>)[] = [];

  async function open(means: Means = {}): Promise<ServiceUnderTest> {
    const stateDir = await mkdtemp(join(tmpdir(), 'conformance-state-'));
    const clock = createMovingClock();
    const engines = createHarnessEngines(inspected);
    const embedded = await createService({
      stateDir,
      clock,
      engines,
      config: configOf(means),
      ...(faults === undefined ? {} : { faults }),
    });
    closers.push(async () => {
      engines.letGo();
      await embedded.close();
      await rm(stateDir, { recursive: true, force: true });
    });
    const [credentials] = embedded.keys();
    if (credentials === undefined) throw new Error('the service has no key');
    return describeService({
      baseUrl: embedded.url,
      credentials,
      headerPrefix: 'X-Service',
      strict: true,
      languages: { source: 'en', target: 'es' },
      supplies: {
        ...supplies,
        jobs: true,
        otherKey: embedded.issueKey(),
        webhooks: receiver === null ? null : { receiver, secret: credentials.webhookSecret },
      },
      admin: createAdmin({ embedded, clock, engines, open }),
      now: clock.now,
      patience: faults === undefined ? PATIENCE : SHORT_PATIENCE,
    });
  }

  return {
    service: await open(),
    async close() {
      await Promise.all(closers.map((end) => end()));
    },
  };
}

function configOf({ credits, planEnded, requests, idle, loopback }: Means): Partial<ServiceConfig> {
  return {
    ...(credits === undefined ? {} : { openingCredits: credits }),
    // Any time in the past.
    ...(planEnded === true ? { planEndsAt: 1 } : {}),
    ...(requests === undefined ? {} : { rate: { requests, windowSeconds: HOUR_SECONDS } }),
    ...(idle === true ? { workers: 0 } : {}),
    allowLoopback: loopback === true,
  };
}

function createAdmin(parts: {
  embedded: Service;
  clock: MovingClock;
  engines: SmallEngines;
  open: Admin['open'];
}): Admin {
  const { embedded, clock, engines, open } = parts;
  return {
    issueKey: (rules = {}) => embedded.issueKey(rulesOf(rules)),
    changeKey: ({ key }, rules) => embedded.changeKey(key, rulesOf(rules)),
    grantCredits(credits, expiresAt) {
      embedded.grantCredits({ credits, ...(expiresAt === undefined ? {} : { expiresAt }) });
    },
    advance: (ms) => clock.advance(ms),
    holdWork: () => engines.hold(),
    letWorkGo: () => engines.letGo(),
    failWork: (...failures) => engines.failNext(...failures.map(errorOf)),
    open,
  };
}

function rulesOf({ permissions, ...rules }: KeyRules) {
  if (permissions === undefined) return rules;
  return { ...rules, permissions: JOB_KIND_NAMES.filter((kind) => permissions.includes(kind)) };
}

function errorOf(failure: WorkFailure): Error {
  if (failure === 'passing') return new Error('the work broke off');
  return new JobFailure('NO_SPEECH_DETECTED', 'nobody speaks in the video');
}
