/** The points at which a run is killed: at each step of the interface, before and after each of its moments. */
import type { Moment } from '../../../commands/support/killed-vloc.ts';
import { testsOwnWork } from '../../../service/harness/profiles.ts';

/** In the run itself: before the request is sent, as soon as its answer is there, or after the write of a record of the profile. */
export type OwnPoint =
  /** The path is a regular expression; pre-signed addresses show none. */
  | { readonly at: 'request' | 'response'; readonly method: string; readonly path: string }
  | { readonly at: 'record'; readonly call: 'add' | 'see' | 'markDownloaded' };

/** In the service: the request has arrived and nothing is done, or all is done and nothing answered. */
export interface ServicePoint {
  readonly at: Moment;
  readonly method: string;
  readonly path: string;
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

const ALL: readonly (readonly [name: string, point: OwnPoint | ServicePoint])[] = [
  ...STEPS.flatMap(({ step, method, path }) => {
    const shown = { method, path: HIDDEN.test(path) ? '/…$|%E2%80%A6$' : path };
    return [
      [`before it sends: ${step}`, { at: 'request', ...shown }],
      [`when the service has it and did nothing: ${step}`, { at: 'arrival', method, path }],
      [`when it is done and not answered: ${step}`, { at: 'answer', method, path }],
      [`when it has the answer: ${step}`, { at: 'response', ...shown }],
    ] as const;
  }),
  ['when the upload is in the record', { at: 'record', call: 'add' }],
  ['when the end of the job is in the record', { at: 'record', call: 'see' }],
  ['when the download is in the record', { at: 'record', call: 'markDownloaded' }],
];

/**
 * With the minimal service the points in the service are skipped: at them the service has done the same as before a request is
 * sent or when its answer has arrived, and the run has recorded the same. So is a GET, which changes nothing, but for the begin of the
 * download. The long run has all points.
 */
export const KILL_POINTS = testsOwnWork() ? ALL : ALL.filter(([, point]) => !isRepetition(point));

function isRepetition(point: OwnPoint | ServicePoint): boolean {
  if (isInService(point)) return true;
  return point.at !== 'record' && point.method === 'GET' && (point.at === 'response' || !isHidden(point));
}

/** Whether it is at a pre-signed address. */
function isHidden({ path }: { readonly path: string }): boolean {
  return path.includes('…');
}

export function isInService(point: OwnPoint | ServicePoint): point is ServicePoint {
  return point.at === 'arrival' || point.at === 'answer';
}
