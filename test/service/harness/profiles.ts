/**
 * The two ends of what a service may say: the embedded one as it is, and the same with every answer cut down to the fields
 * that the specification shows. The files of `test/hosted/minimal` run whole suites against the second.
 */
import type { Faults, RequestFacts } from '../../../src/service/index.ts';

export type Profile = 'generous' | 'minimal';

/** What the specification names without showing how it is said, for suites whose subject it is. */
export type Extra = 'billing' | 'error' | 'input' | 'language';

let current: Profile = 'generous';
let extras: readonly Extra[] = [];

/** Which service the tests of this process have. */
export function currentProfile(): Profile {
  return current;
}

/**
 * False where a suite is repeated with the minimal service: for work of this machine alone, and for what is refused before
 * the first request, the service makes no difference. The long run repeats these tests too.
 */
export function testsOwnWork(): boolean {
  return current === 'generous' || process.env.VLOC_LONG_TESTS === '1';
}

/** From now on the scenes of this process have a service that answers no more than it must, and these. */
export function useMinimalService(more: readonly Extra[]): void {
  current = 'minimal';
  extras = more;
}

/** Ends what `useMinimalService` began. */
export function useUsualService(): void {
  current = 'generous';
  extras = [];
}

type Answer = Exclude<Awaited<ReturnType<Faults['before']>>, 'drop' | null>;
type Body = Record<string, unknown>;

/** Source: specification, "Business job list item", "Job resource results", "Upload resource". */
const JOB_FIELDS = [
  'id',
  'object',
  'status',
  'progress',
  'client_reference',
  'created_at',
  'updated_at',
  'detail_url',
];

function pick(body: Body, names: readonly string[]): Body {
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)));
}

/** Files become bare addresses; of the rest the lines alone are promised. */
function cutResult(result: Body): Body {
  return Object.fromEntries(
    Object.entries(result).flatMap(([name, value]) => {
      if (name === 'lines' || extras.some((extra) => extra === name)) return [[name, value]];
      const isFile = typeof value === 'object' && value !== null && 'url' in value;
      return isFile ? [[name, value.url]] : [];
    }),
  );
}

/** A single resource as the specification shows it; lists are shown there whole. */
function cutResource(path: string, body: Body): Body {
  if (path.startsWith('/v1/uploads')) {
    const target = body.upload_request;
    const address = target === null || target === undefined ? {} : { direct_upload: target };
    return { ...pick(body, ['id', 'status', 'purpose', ...extras]), ...address };
  }
  const kept = { billing: {}, ...pick(body, [...JOB_FIELDS, ...extras]) };
  if (body.status !== 'succeeded') return kept;
  // The service made it: a succeeded job has a result.
  return { ...kept, expires_at: body.expires_at, result: cutResult(body.result as Body) };
}

const XML =
  '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>';

/** What storage answers: errors in XML, an expired address with 403, and no type of its own. */
function cutStored(answer: Answer): Answer {
  if (answer.status >= 400) {
    const status = answer.status === 410 ? 403 : answer.status;
    return { status, headers: { 'Content-Type': 'application/xml' }, body: XML };
  }
  const typed = Object.keys(answer.headers).find((name) => name.toLowerCase() === 'content-type');
  if (typed === undefined) return answer;
  return { ...answer, headers: { ...answer.headers, [typed]: 'binary/octet-stream' } };
}

function cut({ method, target }: RequestFacts, answer: Answer): Answer {
  const path = target.split('?')[0] ?? '';
  if (!path.startsWith('/v1/')) return cutStored(answer);
  const isList = method === 'GET' && path.split('/').length === 3;
  if (isList || answer.status >= 400 || typeof answer.body !== 'string') return answer;
  return { ...answer, body: JSON.stringify(cutResource(path, JSON.parse(answer.body))) };
}

/** Makes a service answer no more than it must; faults of the test come on top. */
export function answerSparsely(faults?: Faults): Faults {
  return {
    before: async (request) => (await faults?.before(request)) ?? null,
    async after(request, made) {
      const answer = cut(request, made);
      return faults === undefined ? answer : faults.after(request, answer);
    },
  };
}
