/** The steps of a run on the wire, told apart by what is asked. */

/** In the order of a run; the last three are commands of their own. */
export const STEPS = [
  'createUpload',
  'put',
  'complete',
  'pollUpload',
  'createJob',
  'pollJob',
  'download',
  'cancel',
  'credits',
  'list',
] as const;
export type Step = (typeof STEPS)[number];

/** The step that a request belongs to. */
export function stepOf(method: string, target: string): Step {
  const path = target.split('?')[0] ?? '';
  if (method === 'PUT') return 'put';
  if (method === 'DELETE') return 'cancel';
  if (!path.startsWith('/v1/')) return 'download';
  if (path.endsWith('/completions')) return 'complete';
  if (path === '/v1/uploads') return 'createUpload';
  if (path.startsWith('/v1/uploads/')) return 'pollUpload';
  if (path === '/v1/credits') return 'credits';
  if (path.split('/').length === 3) return method === 'POST' ? 'createJob' : 'list';
  return 'pollJob';
}

/** What was answered last before a step comes: the step before it and, where that is repeated, its last status. */
const BEFORE: Readonly<Partial<Record<Step, { readonly step: Step; readonly status?: string }>>> = {
  put: { step: 'createUpload' },
  complete: { step: 'put' },
  pollUpload: { step: 'complete' },
  createJob: { step: 'pollUpload', status: 'ready' },
  pollJob: { step: 'createJob' },
  download: { step: 'pollJob', status: 'succeeded' },
  cancel: { step: 'pollJob' },
};

/** True when a run begins with the step, so that nothing announces it. */
export function beginsRun(step: Step): boolean {
  return BEFORE[step] === undefined;
}

/** True when the answer to `answered`, whose resource has this status, means that `step` is next. */
export function announces(step: Step, answered: Step, status: unknown): boolean {
  const before = BEFORE[step];
  if (before === undefined || before.step !== answered) return false;
  return before.status === undefined || before.status === status;
}

/** True when a run waits before it comes to the step: a job is not looked at in the instant that made it. */
export function waitsBefore(step: Step): boolean {
  return step === 'pollJob';
}
