/** The rate of signed requests that the service answers, relative to bare `node:http` with the same bytes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ANY_TIME_MS, type Figure, NODE_MEMORY_MIB, upTo } from './figure.ts';
import { median, quantile } from './measure.ts';
import type { CannedAnswer } from './service/bare.ts';
import { type Connections, openConnections, type Reply, type Round } from './service/connections.ts';
import { signedBytes, type Target } from './service/sign.ts';
import { type BareServer, type RunningService, startBare, startService } from './service/start.ts';

const CONNECTIONS = 50;
/**
 * An odd number of rounds, so that the median is a measured value, after some until the JIT has compiled both servers. A round of
 * reads takes half a second, which is shorter than other activity on the machine. Jobs are few, because each stays open until its
 * round ends, and the service counts open jobs at every request.
 */
const FULL = { rounds: 15, warmUpRounds: 4, gets: 3000, posts: 500 };
const SHORT: Size = { rounds: 1, warmUpRounds: 1, gets: 200, posts: 50 };
type Size = typeof FULL;

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
  readonly size: Size;
}

export async function measureRequests(isShort: boolean): Promise<readonly Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-bench-'));
  const [service, bare] = await Promise.all([startService(join(folder, 'state')), startBare()]);
  const pair: Pair = {
    service,
    bare,
    toService: await openConnections(service.port, CONNECTIONS),
    toBare: await openConnections(bare.port, CONNECTIONS),
    size: isShort ? SHORT : FULL,
  };
  try {
    return [
      ...(await compareGets(pair)),
      ...(await comparePosts(pair)),
      {
        name: 'memory of the service after these requests',
        value: service.residentMiB(),
        unit: 'MiB',
        plausible: NODE_MEMORY_MIB,
      },
    ];
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
    atLeast: 0.3,
    prepare: () => requests(pair.size.gets),
    check: (round) => round.replies.filter((reply) => !isRight(reply)).length,
    clearUp: async () => {},
  });
}

async function comparePosts(pair: Pair): Promise<Figure[]> {
  const [sample] = await createJobs(pair, ['reference-000000']);
  if (sample === undefined) throw new Error('no job was made');
  await pair.bare.answerWith(cannedAnswer(sample));
  const ids = new Set<string>();
  const references = Array.from(
    { length: pair.size.posts },
    (_, at) => `reference-${String(at).padStart(6, '0')}`,
  );
  return compare(pair, {
    name: 'signed POST that creates a job',
    atLeast: 0.12,
    prepare: () => references.map((reference) => postBytes(pair.service.target, reference)),
    check: (round) => {
      const wrong = round.replies.filter((reply, at) => !isJobOf(reply, references[at] ?? '', ids));
      for (const reply of round.replies) ids.add(idOf(reply));
      return wrong.length;
    },
    clearUp: (round) => cancelJobs(pair, round.replies.map(idOf)),
  });
}

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
async function compare({ toService, toBare, size }: Pair, comparison: Comparison): Promise<Figure[]> {
  const { name, atLeast, prepare, check, clearUp } = comparison;
  const ratios: number[] = [];
  const latencies: number[] = [];
  let wrong = 0;
  let sent = 0;
  for (let number = -size.warmUpRounds; number < size.rounds; number += 1) {
    const ours = await toService.send(prepare());
    wrong += check(ours);
    sent += ours.replies.length;
    await clearUp(ours);
    const bare = await toBare.send(prepare());
    if (number < 0) continue;
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
      // The service is built on `node:http` and does more; a busy machine may slow one of the two down.
      plausible: [0.0005, 3],
      spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
    },
    {
      name: `wrong responses among ${sent}`,
      value: wrong,
      unit: '',
      limit: { atMost: 0 },
      plausible: upTo(sent),
    },
    {
      name: `p99 of a round, ${CONNECTIONS} connections`,
      value: median(latencies),
      unit: 'ms',
      plausible: ANY_TIME_MS,
    },
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
