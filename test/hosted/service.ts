/**
 * A service that speaks the specification and differs from the embedded one wherever it leaves something open. Nothing of
 * the project is used here but the list of the differences, so that no mistake of it can be made twice. It sends no webhooks:
 * a callback is a public HTTPS address, and a test has none.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Difference } from './differences.ts';
import { createForms } from './forms.ts';
import { answerJobs, isOver, settle } from './jobs.ts';
import { listPage } from './lists.ts';
import { type Answer, NOT_FOUND, problem, sendAnswer } from './send.ts';
import {
  balanceShape,
  type LedgerLine,
  type StoredJob,
  type StoredUpload,
  transactionShape,
} from './shapes.ts';
import { type Account, judgeSignature, type Nonces } from './signature.ts';
import { giveBytes, takeBytes } from './storage.ts';
import { TROUBLES, type Trouble } from './troubles.ts';
import { answerUploads } from './uploads.ts';

export interface HostedOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How long a job is worked on; null: until it has been looked at three times. */
  readonly jobMs: ((job: StoredJob) => number) | null;
  /** How long the address of a result can be used. Source: specification, "Limits". */
  readonly linkMs: number;
  /** Jobs that may run at a time. Source: the same. */
  readonly slots: number;
  /** Of the workspace, before the first job. */
  readonly credits: number;
  /** 0: any free one. */
  readonly port: number;
  /** What makes the results of a job unlike those of others. */
  readonly mark: (job: Pick<StoredJob, 'id' | 'path' | 'input' | 'language'>) => string;
  readonly translate: (text: string, language: string) => string;
}

export interface Hosted {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly account: Account;
  readonly requests: {
    readonly method: string;
    readonly url: string;
    readonly headers: IncomingHttpHeaders;
    readonly body: Buffer;
  }[];
  /** Answered one each to signed requests, instead of the right answer. */
  readonly troubles: Trouble[];
  /** Changes every JSON answer of the API before it is sent. */
  change: (body: Record<string, unknown>) => Record<string, unknown>;
  /** Called when a request has come and nothing is done, and again before its answer is sent. */
  meet: (at: 'arrival' | 'answer', method: string, url: string) => Promise<void>;
  /** What the next job ends as. */
  endsAs: string;
  /** True while no job may end. */
  isHeld: boolean;
  readonly jobs: ReadonlyMap<string, StoredJob>;
  readonly uploads: ReadonlyMap<string, StoredUpload>;
  /** Makes another key of the workspace. */
  issueKey(): Account;
  /** No earlier address of a result can be used any more; reading the job returns new ones. */
  expireLinks(): void;
  close(): Promise<void>;
}

/** One request to the API. */
export interface Asked {
  readonly method: string;
  /** Of the path, from the collection on. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  readonly fields: Readonly<Record<string, unknown>>;
  /** The key that signed it. */
  readonly owner: string;
  /** Its Idempotency-Key; empty for a GET. */
  readonly intent: string;
}

/** What the parts of the service share. */
export interface Desk {
  readonly has: ReturnType<typeof createForms>;
  readonly options: HostedOptions;
  readonly origin: () => string;
  readonly now: () => number;
  readonly jobs: Map<string, StoredJob>;
  readonly uploads: Map<string, StoredUpload>;
  readonly ledger: (LedgerLine & { readonly owner: string })[];
  /** Counts how often all addresses were taken back. */
  readonly links: { round: number };
  readonly nextNumber: () => number;
  readonly nextRequestId: () => string;
  readonly makeId: (number: number) => string;
  readonly hosted: Pick<Hosted, 'change' | 'endsAs' | 'isHeld'>;
}

/** Source: specification, "Idempotency-Key". */
const INTENT = /^[A-Za-z0-9._:-]{1,255}$/;
/** Of the header by which callers trace a request. Source: specification, "Limits". */
const TRACED_LENGTH = 128;
/** Numbers of the lines of the ledger that are there before the first job. */
const SEEDS = [1, 2, 3];
const DEFAULTS: HostedOptions = {
  now: Date.now,
  jobMs: null,
  linkMs: 24 * 60 * 60_000,
  slots: 15,
  credits: 100,
  port: 0,
  mark: ({ id, path, input, language }) => `${id} ${path} ${input} ${language}`,
  translate: (text, language) => `[${language}] ${text}`,
};

/** @param used collects the differences that an answer has had */
export async function startHosted(
  chosen: readonly Difference[],
  used: Set<Difference>,
  given: Partial<HostedOptions> = {},
): Promise<Hosted> {
  const options = { ...DEFAULTS, ...given };
  const { now } = options;
  const has = createForms(chosen, used);
  const prefix = has('header-prefix') ? 'X-Acme' : 'X-Service';
  const account = { prefix, key: 'AK-1', secret: 'hosted-secret-canary' };
  const accounts: Account[] = [account];
  const nonces: Nonces = new Map();
  const replays = new Map<string, { readonly print: string; readonly answer: Answer }>();
  let count = SEEDS.length;
  let answered = 0;
  let origin = '';

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const { method = '', url = '', headers } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    hosted.requests.push({ method, url, headers, body });
    await hosted.meet('arrival', method, url);
    const [path = '', query = ''] = url.split('?');
    if (path.startsWith('/bucket/')) return takeBytes(desk, path.slice('/bucket/'.length), body, response);
    if (!path.startsWith('/v1/')) return giveBytes(desk, request, response);
    const judged = judgeSignature(accounts, request, body, nonces, now());
    if (typeof judged === 'string') {
      return sendAnswer(desk, path, problem(401, 'AUTHENTICATION_FAILED', judged), response);
    }
    has('raw-target-signed');
    const trouble = hosted.troubles.shift();
    if (trouble !== undefined) {
      used.add(trouble);
      return TROUBLES[trouble](response);
    }
    const segments = path.slice('/v1/'.length).split('/').map(decodeURIComponent);
    const isList = method === 'GET' && segments.length === 1 && segments[0] !== 'credits';
    const traced = String(headers['x-client-request-id'] ?? '');
    if ((query !== '' && !isList) || (traced.length > TRACED_LENGTH && method === 'POST')) {
      return sendAnswer(
        desk,
        path,
        problem(400, 'INVALID_REQUEST', 'No such parameter or header.'),
        response,
      );
    }
    const intent = String(request.headers['idempotency-key'] ?? '');
    const common = { method, segments, intent, owner: judged.key, query: new URLSearchParams(query) };
    const answer = decide(common, body);
    await hosted.meet('answer', method, url);
    sendAnswer(desk, path, answer, response);
  }

  /** Does what is asked, once for an intent. */
  function decide(common: Omit<Asked, 'fields'>, body: Buffer): Answer {
    const { method, segments, intent, owner } = common;
    let fields: unknown;
    try {
      fields = body.length === 0 ? {} : JSON.parse(body.toString('utf8'));
    } catch {
      return problem(400, 'INVALID_REQUEST', 'The body is not JSON.');
    }
    if (typeof fields !== 'object' || fields === null) return problem(400, 'INVALID_REQUEST', 'No object.');
    const asked: Asked = { ...common, fields: { ...fields } };
    if (method === 'GET') return route(asked);
    if (!INTENT.test(intent)) return problem(400, 'INVALID_REQUEST', 'Idempotency-Key is missing.');
    const digest = createHash('sha256').update(body).digest('hex');
    const print = [method, ...segments, digest].join(' ');
    const earlier = replays.get(`${owner} ${intent}`);
    if (earlier !== undefined && earlier.print !== print) {
      return problem(409, 'IDEMPOTENCY_KEY_REUSED', 'The key belongs to another intent.');
    }
    const answer = earlier?.answer ?? route(asked);
    if (answer.isProblem) return answer;
    replays.set(`${owner} ${intent}`, { print, answer });
    const replayed = { 'idempotency-replayed': String(earlier !== undefined) };
    return { ...answer, headers: { ...answer.headers, ...replayed } };
  }

  function route(asked: Asked): Answer {
    const [collection] = asked.segments;
    if (collection === 'uploads') return answerUploads(desk, asked);
    if (collection !== 'credits' && collection !== 'credit-transactions') return answerJobs(desk, asked);
    if (asked.method !== 'GET') return NOT_FOUND;
    const all = [...jobs.values()];
    for (const job of all) settle(desk, job);
    if (collection === 'credits') {
      const open = all.filter((job) => !isOver(job)).length;
      const charged = desk.ledger.length - SEEDS.length;
      return { status: 200, body: () => balanceShape(desk, open, charged) };
    }
    const own = desk.ledger.filter(({ owner }) => owner === asked.owner);
    return listPage(desk, 'lines', asked.query, own, (line) => transactionShape(has, line));
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(options.port, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP server has one
  origin = `http://127.0.0.1:${port}`;
  const jobs = new Map<string, StoredJob>();
  const uploads = new Map<string, StoredUpload>();
  const links = { round: 1 };
  const hosted: Hosted = {
    baseUrl: `${origin}/v1`,
    account,
    requests: [],
    troubles: [],
    change: (body) => body,
    meet: async () => {},
    endsAs: 'succeeded',
    isHeld: false,
    jobs,
    uploads,
    issueKey() {
      const number = accounts.length + 1;
      const issued = { prefix, key: `AK-${number}`, secret: `hosted-secret-canary-${number}` };
      accounts.push(issued);
      return issued;
    },
    expireLinks() {
      links.round += 1;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  // What the key was charged before the test began.
  const before = SEEDS.map((number) => ({
    owner: account.key,
    number,
    createdAt: now(),
    amount: -1.5,
  }));
  const desk: Desk = {
    ...{ has, options, now, jobs, uploads, links, hosted },
    origin: () => origin,
    ledger: before,
    nextNumber() {
      count += 1;
      return count;
    },
    nextRequestId() {
      answered += 1;
      return `req_${answered}`;
    },
    makeId(number) {
      if (has('ids-uuid')) return randomUUID();
      return has('ids-short') ? `Q-${number}Zx-471` : `thing_0000${number}`;
    },
  };
  return hosted;
}
