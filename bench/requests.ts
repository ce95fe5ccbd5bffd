/** The rate of signed requests that the service answers, relative to bare `node:http` with the same bytes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure } from './figure.ts';
import { median, quantile } from './measure.ts';
import type { CannedAnswer } from './service/bare.ts';
import { type Connections, openConnections, type Reply, type Round } from './service/connections.ts';
import { signedBytes, type Target } from './service/sign.ts';
import { type BareServer, type RunningService, startBare, startService } from './service/start.ts';

const CONNECTIONS = 50;
/** Odd, so that the median is a measured value. */
const ROUNDS = 15;
/** About half a second: shorter than other activity on the machine. */
const GETS = 3000;
/** Few, because each job stays open until the round ends, and the service counts open jobs at every request. */
const POSTS = 500;
/** Until the JIT has compiled both servers. */
const WARM_UP_ROUNDS = 4;

const COLLECTION = '/v1/auto-localizations';
const askFor = (reference: string) => ({
  source: { type: 'url', url: 'https://media.example.com/lesson.mp4' },
  target_language: 'es',
  client_reference: reference,
});

interface Pair {
  readonly service: RunningService;
  readonly bare: BareServer;
  readonly toService: Connections;
  readonly toBare: Connections;
}

export async function measureRequests(): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  const [service, bare] = await Promise.all([startService(join(folder, 'state')), startBare()]);
  const pair: Pair = {
    service,
    bare,
    toService: await openConnections(service.port, CONNECTIONS),
    toBare: await openConnections(bare.port, CONNECTIONS),
  };
  try {
    const memory = () => ({
      name: `memory of the service after these requests`,
      value: service.residentMiB(),
      unit: 'MiB' as const,
    });
    const reading = await compareGets(pair);
    return [...reading, memory(), ...(await comparePosts(pair)), memory()];
  } finally {
    pair.toService.close();
    pair.toBare.close();
    await Promise.all([service.stop(), bare.stop()]);
    rmSync(folder, { recursive: true });
  }
}

async function compareGets(pair: Pair): Promise<Figure[]> {
  const { target } = pair.service;
  const made = await createJobs(pair, ['the one that is read']);
  const path = `${COLLECTION}/${idOf(made[0])}`;
  const requests = (count: number) =>
    Array.from({ length: count }, () => signedBytes(target, { method: 'GET', path }));
  const sample = await pair.toService.send(requests(1));
  const expected = sample.replies[0];
  if (expected?.status !== 200) throw new Error(`the job cannot be read: ${expected?.head}`);
  await pair.bare.answerWith(cannedAnswer(expected));
  const isRight = ({ status, body }: Reply) => status === 200 && body.equals(expected.body);

  return compare(pair, {
    name: 'signed GET of a job',
    atLeast: 0.4,
    prepare: () => requests(GETS),
    check: (round) => round.replies.filter((reply) => !isRight(reply)).length,
    clearUp: async () => {},
  });
}

async function comparePosts(pair: Pair): Promise<Figure[]> {
  const [sample] = await createJobs(pair, ['reference-000000']);
  if (sample === undefined) throw new Error('no job was made');
  await pair.bare.answerWith(cannedAnswer(sample));
  const ids = new Set<string>();
  return compare(pair, {
    name: 'signed POST that creates a job',
    atLeast: 0.14,
    prepare: () => references().map((reference) => postBytes(pair.service.target, reference)),
    check: (round) => {
      const wrong = round.replies.filter((reply, at) => !isJobOf(reply, references()[at] ?? '', ids));
      for (const reply of round.replies) ids.add(idOf(reply));
      return wrong.length;
    },
    clearUp: (round) => cancelJobs(pair, round.replies.map(idOf)),
  });
}

const references = () => Array.from({ length: POSTS }, (_, at) => `reference-${String(at).padStart(6, '0')}`);

interface Comparison {
  readonly name: string;
  readonly atLeast: number;
  prepare(): readonly Buffer[];
  /** Returns the number of wrong responses of the service. */
  check(round: Round): number;
  /** Cleans up. Not timed. */
  clearUp(round: Round): Promise<void>;
}

/** Runs rounds of the service and of the bare server alternately, with the same requests. */
async function compare(
  { service, bare: bareServer, toService, toBare }: Pair,
  comparison: Comparison,
): Promise<Figure[]> {
  const { name, atLeast, prepare, check, clearUp } = comparison;
  const ratios: number[] = [];
  const latencies: number[] = [];
  const busy: number[] = [];
  const ticks = { service: 0, bare: 0 };
  let wrong = 0;
  let sent = 0;
  for (let number = -WARM_UP_ROUNDS; number < ROUNDS; number += 1) {
    const asked = prepare();
    const serviceBefore = service.cpuTicks();
    const ours = await toService.send(asked);
    const serviceTicks = service.cpuTicks() - serviceBefore;
    wrong += check(ours);
    sent += ours.replies.length;
    await clearUp(ours);
    const requests = prepare();
    const before = performance.eventLoopUtilization();
    const bareBefore = bareServer.cpuTicks();
    const bare = await toBare.send(requests);
    if (number < 0) continue;
    ticks.service += serviceTicks;
    ticks.bare += bareServer.cpuTicks() - bareBefore;
    busy.push(100 * performance.eventLoopUtilization(before).utilization);
    ratios.push(bare.seconds / ours.seconds);
    latencies.push(
      quantile(
        ours.replies.map(({ ms }) => ms),
        0.99,
      ),
    );
  }
  return [
    {
      name: `${name}, rate ÷ bare \`node:http\``,
      value: median(ratios),
      unit: '×',
      limit: { atLeast },
      spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
    },
    { name: 'the same by CPU time of the two servers', value: ticks.bare / ticks.service, unit: '×' },
    { name: `wrong responses among ${sent}`, value: wrong, unit: '', limit: { atMost: 0 } },
    { name: `p99 of a round, ${CONNECTIONS} connections`, value: median(latencies), unit: 'ms' },
    { name: 'how busy the generator of load was with the bare server', value: median(busy), unit: '%' },
  ];
}

function postBytes(target: Target, reference: string): Buffer {
  return signedBytes(target, { method: 'POST', path: COLLECTION, body: askFor(reference) });
}

async function createJobs({ toService, service }: Pair, names: readonly string[]): Promise<readonly Reply[]> {
  const { replies } = await toService.send(names.map((name) => postBytes(service.target, name)));
  for (const reply of replies) if (reply.status !== 202) throw new Error(`no job was made: ${reply.body}`);
  return replies;
}

async function cancelJobs({ toService, service }: Pair, ids: readonly string[]): Promise<void> {
  const requests = ids.map((id) =>
    signedBytes(service.target, { method: 'DELETE', path: `${COLLECTION}/${id}` }),
  );
  const { replies } = await toService.send(requests);
  const refused = replies.find(({ status }) => status !== 202);
  if (refused !== undefined) throw new Error(`a job was not cancelled: ${refused.body}`);
}

function idOf(reply: Reply | undefined): string {
  return reply === undefined ? '' : JSON.parse(reply.body.toString()).id;
}

function isJobOf({ status, body, head }: Reply, reference: string, earlier: ReadonlySet<string>): boolean {
  const job = JSON.parse(body.toString());
  return (
    status === 202 &&
    job.client_reference === reference &&
    job.status === 'queued' &&
    !earlier.has(job.id) &&
    head.includes(`\r\nLocation: ${COLLECTION}/${job.id}`)
  );
}

/** Headers that Node adds automatically. */
const OF_NODE: readonly string[] = ['connection', 'keep-alive'];

function cannedAnswer({ status, head, body }: Reply): CannedAnswer {
  const pairs = head
    .split('\r\n')
    .slice(1)
    .map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]);
  const headers = Object.fromEntries(pairs.filter(([name]) => !OF_NODE.includes(name.toLowerCase())));
  return { status, headers, body: body.toString() };
}
