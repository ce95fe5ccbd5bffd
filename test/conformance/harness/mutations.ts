/** Errors that a service could make in its answers, each with the rules that must detect it. */
import type { RequestFacts, ServiceResponse } from '../../../src/service/index.ts';

export interface Mutation {
  readonly name: string;
  /** Returns the changed answer, or the same answer if the error does not affect it. */
  readonly change: (answer: ServiceResponse, request: RequestFacts) => ServiceResponse;
  /** Ids of rules that fail because of the error. */
  readonly caughtBy: readonly string[];
}

type Json = Record<string, unknown>;

function withHeader(answer: ServiceResponse, name: string, value: string): ServiceResponse {
  return { ...answer, headers: { ...answer.headers, [name]: value } };
}

/** Changes the body of answers with JSON. */
function inBody(change: (body: Json, request: RequestFacts) => Json): Mutation['change'] {
  return (answer, request) => {
    const isJson = /json/.test(answer.headers['Content-Type'] ?? '');
    if (!isJson || typeof answer.body !== 'string') return answer;
    return { ...answer, body: JSON.stringify(change(JSON.parse(answer.body), request)) };
  };
}

/** Changes every item of every list. */
function inItems(change: (item: Json) => Json): Mutation['change'] {
  return inBody((body) => (Array.isArray(body.data) ? { ...body, data: body.data.map(change) } : body));
}

/** Changes every single job and upload. */
function inResources(change: (resource: Json) => Json): Mutation['change'] {
  return inBody((body) => (typeof body.detail_url === 'string' ? change(body) : body));
}

const isProblem = (body: Json) => typeof body.code === 'string' && typeof body.request_id === 'string';

function inProblems(change: (problem: Json) => Json): Mutation['change'] {
  return inBody((body) => (isProblem(body) ? change(body) : body));
}

const restatus =
  (from: number, to: number, method?: string): Mutation['change'] =>
  (answer, request) =>
    answer.status === from && (method ?? request.method) === request.method
      ? { ...answer, status: to }
      : answer;

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'results with one field too many',
    change: inResources((job) =>
      job.result == null ? job : { ...job, result: { ...Object(job.result), engines: [] } },
    ),
    caughtBy: ['results.dubbing.members'],
  },
  {
    name: 'request ids of another form',
    change: (answer) => withHeader(answer, 'X-Request-ID', 'request-7'),
    caughtBy: ['headers.request-id', 'headers.request-id-fresh', 'errors.request-id'],
  },
  {
    name: 'lists that may be cached',
    change: (answer) => withHeader(answer, 'Cache-Control', 'private'),
    caughtBy: ['headers.no-store'],
  },
  {
    name: 'an absolute Location',
    change: (answer) =>
      answer.headers.Location === undefined
        ? answer
        : withHeader(answer, 'Location', `https://elsewhere.example.com${answer.headers.Location}`),
    caughtBy: ['headers.location-of-uploads', 'headers.location-of-createDubbing'],
  },
  {
    name: 'replays that are not marked',
    change: (answer) =>
      answer.headers['Idempotency-Replayed'] === undefined
        ? answer
        : withHeader(answer, 'Idempotency-Replayed', 'false'),
    caughtBy: ['idempotency.replay-of-upload', 'idempotency.replay-of-job', 'idempotency.replay-of-cancel'],
  },
  {
    name: 'one member too many in list items',
    change: inItems((item) => ({ ...item, result: null })),
    caughtBy: ['list-item.exact'],
  },
  {
    name: 'progress beyond 100',
    change: inItems((item) => ({ ...item, progress: 101 })),
    caughtBy: ['list-item.progress'],
  },
  {
    name: 'a sixth status',
    change: inItems((item) => ({ ...item, status: 'done' })),
    caughtBy: ['list-item.status'],
  },
  {
    name: 'lists with the oldest first',
    change: inBody((body) => (Array.isArray(body.data) ? { ...body, data: body.data.toReversed() } : body)),
    caughtBy: ['paging.uploads-newest-first', 'paging.jobs-newest-first'],
  },
  {
    name: 'lists that end too early',
    change: inBody((body) =>
      Array.isArray(body.data) ? { ...body, has_more: false, next_cursor: null } : body,
    ),
    caughtBy: ['envelope.next-page', 'paging.walk', 'cursors.length'],
  },
  {
    name: 'lists that are named otherwise',
    change: inBody((body) => (Array.isArray(body.data) ? { ...body, object: 'page' } : body)),
    caughtBy: ['envelope.object'],
  },
  {
    name: 'a page of 21',
    change: inBody((body, { target }) =>
      Array.isArray(body.data) && !target.includes('limit')
        ? { ...body, data: [...body.data, body.data[0]] }
        : body,
    ),
    caughtBy: ['paging.default-20'],
  },
  {
    name: '422 instead of 400',
    change: restatus(400, 422),
    caughtBy: ['operations.listUploads.400', 'parameters.limit-range', 'errors.status'],
  },
  {
    name: '403 instead of 401',
    change: restatus(401, 403),
    caughtBy: ['operations.getCredits.401', 'authentication.body-tampered', 'authentication.nonce-reused'],
  },
  {
    name: '200 instead of 202 on DELETE',
    change: restatus(202, 200, 'DELETE'),
    caughtBy: ['cancel.dubbing.processing', 'operations.cancelDubbing.202'],
  },
  {
    name: 'problems as plain JSON',
    change: (answer) =>
      answer.status >= 400 ? withHeader(answer, 'Content-Type', 'application/json') : answer,
    caughtBy: ['errors.content-type', 'operations.getDubbing.404'],
  },
  {
    name: 'a type in upper case',
    change: inProblems((problem) => ({
      ...problem,
      type: String(problem.type).replace(/[^/]+$/, String(problem.code)),
    })),
    caughtBy: ['errors.type'],
  },
  {
    name: 'a request id that is not the header’s',
    change: inProblems((problem) => ({ ...problem, request_id: 'req_another' })),
    caughtBy: ['errors.request-id'],
  },
  {
    name: 'an instance with the origin',
    change: inProblems((problem) => ({ ...problem, instance: `https://api.example.com${problem.instance}` })),
    caughtBy: ['errors.instance'],
  },
  {
    name: 'everything retryable',
    change: inProblems((problem) => ({ ...problem, retryable: true })),
    caughtBy: ['errors.retryable'],
  },
  {
    name: 'ids distinguished in 404',
    change: (answer, request) =>
      inProblems((problem) => ({ ...problem, detail: `nothing at ${request.target}` }))(answer, request),
    caughtBy: ['errors.not-found-alike'],
  },
  {
    name: 'results with a report',
    change: inResources((job) =>
      job.result === null || job.result === undefined
        ? job
        : { ...job, result: { ...Object(job.result), quality_report: { score: 1 } } },
    ),
    caughtBy: ['results.dubbing.own-result', 'results.dubbing.members'],
  },
  {
    name: 'jobs that hide their result',
    change: inResources((job) => ({ ...job, result: null })),
    caughtBy: ['states.dubbing.succeeded', 'list-item.detail-url'],
  },
  {
    name: 'an account in the balance',
    change: inBody((body) => (body.object === 'credit_balance' ? { ...body, workspace_id: 'w1' } : body)),
    caughtBy: ['credits.no-identity', 'credits.members'],
  },
  {
    name: 'more available than there is',
    change: inBody((body) =>
      body.object === 'credit_balance'
        ? { ...body, available_credits: Number(body.balance_credits) + 1 }
        : body,
    ),
    caughtBy: ['credits.available'],
  },
  {
    name: 'amounts without a sign',
    change: inItems((item) =>
      typeof item.amount === 'number' ? { ...item, amount: Math.abs(item.amount) } : item,
    ),
    caughtBy: ['billing.transaction', 'billing.transaction-members'],
  },
  {
    name: 'uploads that are ready immediately',
    change: inResources((upload) => (upload.object === 'upload' ? { ...upload, status: 'ready' } : upload)),
    caughtBy: ['uploads.reservation', 'uploads.read'],
  },
];
