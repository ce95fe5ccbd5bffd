/** The steps of a run, recognized by their requests. */
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

/** The steps to test a fault at: every fifth one, in turn, so that each fault and each step is met, with the answer to a job lost. The long run takes all. */
export function stepsFor(fault: number, steps: readonly Step[]): readonly Step[] {
  return process.env.VLOC_LONG_TESTS === '1' ? steps : steps.filter((_, at) => (at + fault) % 5 === 2);
}

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

/** The response after which a step is next: of the step before it and, if that is repeated, with its last status. */
const BEFORE: Readonly<Partial<Record<Step, { readonly step: Step; readonly status?: string }>>> = {
  put: { step: 'createUpload' },
  complete: { step: 'put' },
  pollUpload: { step: 'complete' },
  createJob: { step: 'pollUpload', status: 'ready' },
  pollJob: { step: 'createJob' },
  download: { step: 'pollJob', status: 'succeeded' },
  cancel: { step: 'pollJob' },
};

/** True if a run begins with the step, so that no response precedes it. */
export function beginsRun(step: Step): boolean {
  return BEFORE[step] === undefined;
}

/** True if `step` is next after the response to `answered`, whose resource has this status. */
export function announces(step: Step, answered: Step, status: unknown): boolean {
  const before = BEFORE[step];
  if (before === undefined || before.step !== answered) return false;
  return before.status === undefined || before.status === status;
}

/** True if a run waits before the step: a job is not polled right after its creation. */
export function waitsBefore(step: Step): boolean {
  return step === 'pollJob';
}
