/** The points at which a run is killed: at each step of the interface, before and after each of its moments. */
import type { RequestFacts } from '../../../../src/service/index.ts';
import { testsOwnWork } from '../../../service/harness/profiles.ts';

export type KillPoint =
  /** In the run: before the request is sent, or as soon as its answer is there. */
  | {
      readonly at: 'request' | 'response';
      readonly method: string;
      /** Regular expression; pre-signed addresses show none. */
      readonly path: string;
      readonly time?: number;
    }
  /** In the service: the request has arrived and nothing is done, or all is done and nothing answered. */
  | { readonly at: 'arrival' | 'execution'; readonly method: string; readonly path: string }
  /** In the run: after the write of a record of the profile. */
  | { readonly at: 'record'; readonly call: 'add' | 'see' | 'markDownloaded' };

export interface KilledRun {
  readonly baseUrl: string;
  readonly credentials: { readonly key: string; readonly secret: string };
  readonly stateDir: string;
  readonly out: string;
  /** Path of a file, localized into two languages; null for none. */
  readonly video: string | null;
  /** So many translations. */
  readonly lines: number;
  readonly point: KillPoint;
}

/** The steps of a job with an upload. Source: reliability, 3.1, S1 to S7, and the list at the start (S9). */
const STEPS = [
  { step: 'look for lost jobs', method: 'GET', path: '/auto-localizations$' },
  { step: 'reserve the upload', method: 'POST', path: '/uploads$' },
  { step: 'send the bytes', method: 'PUT', path: '/objects/' },
  { step: 'complete the upload', method: 'POST', path: '/completions$' },
  { step: 'look at the upload', method: 'GET', path: '/uploads/[^/]+$' },
  { step: 'create the job', method: 'POST', path: '/auto-localizations$' },
  { step: 'look at the job', method: 'GET', path: '/auto-localizations/[^/]+$' },
  { step: 'download', method: 'GET', path: '/assets/' },
] as const;

/** Events of the client show of a pre-signed address its origin alone. */
const HIDDEN = /objects|assets/;

const ALL: readonly (readonly [name: string, point: KillPoint])[] = [
  ...STEPS.flatMap(({ step, method, path }) => {
    const shown = { method, path: HIDDEN.test(path) ? '/…$|%E2%80%A6$' : path };
    return [
      [`before it sends: ${step}`, { at: 'request', ...shown }],
      [`when the service has it and did nothing: ${step}`, { at: 'arrival', method, path }],
      [`when it is done and not answered: ${step}`, { at: 'execution', method, path }],
      [`when it has the answer: ${step}`, { at: 'response', ...shown }],
    ] as const;
  }),
  ['when the upload is in the record', { at: 'record', call: 'add' }],
  ['when the end of the job is in the record', { at: 'record', call: 'see' }],
  ['when the download is in the record', { at: 'record', call: 'markDownloaded' }],
];

/**
 * With the minimal service the points in the service are skipped: at them the service has done the same as before a request is
 * sent or when its answer has arrived, and the run has recorded the same. The long run has all points.
 */
export const KILL_POINTS = testsOwnWork()
  ? ALL
  : ALL.filter(([, { at }]) => at !== 'arrival' && at !== 'execution');

/** Whether a request is the one that a point means. */
export function isAt(
  point: KillPoint,
  at: 'arrival' | 'execution',
  { method, target }: RequestFacts,
): boolean {
  if (point.at !== at) return false;
  return point.method === method && new RegExp(point.path).test(target.split('?')[0] ?? '');
}
