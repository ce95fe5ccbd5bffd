/** States of jobs and uploads with all allowed transitions. Source: specification, "States and transitions". */
export const JOB_STATUSES = ['queued', 'processing', 'succeeded', 'failed', 'cancelled'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];
export type TerminalStatus = 'succeeded' | 'failed' | 'cancelled';

export const UPLOAD_STATUSES = ['waiting_for_upload', 'validating', 'ready', 'failed', 'expired'] as const;
export type UploadStatus = (typeof UPLOAD_STATUSES)[number];

export const UPLOAD_PURPOSES = ['source_video', 'subtitle_file'] as const;
export type UploadPurpose = (typeof UPLOAD_PURPOSES)[number];

const JOB_TRANSITIONS: Record<JobStatus, readonly JobStatus[]> = {
  queued: ['processing', 'cancelled'],
  processing: ['succeeded', 'failed', 'cancelled'],
  succeeded: [],
  failed: [],
  cancelled: [],
};

// spec: open — only the first two transitions are specified; the others follow from the meaning of the states.
const UPLOAD_TRANSITIONS: Record<UploadStatus, readonly UploadStatus[]> = {
  waiting_for_upload: ['validating', 'expired'],
  validating: ['ready', 'failed'],
  ready: ['expired'],
  failed: [],
  expired: [],
};

/** Returns true if the specification allows a job to change from one state to the other. */
export function canJobBecome(from: JobStatus, to: JobStatus): boolean {
  return JOB_TRANSITIONS[from].includes(to);
}

/** Returns true if an upload may change from one state to the other. */
export function canUploadBecome(from: UploadStatus, to: UploadStatus): boolean {
  return UPLOAD_TRANSITIONS[from].includes(to);
}

/** Returns true for a job that will not change again. */
export function isTerminal(status: JobStatus): status is TerminalStatus {
  return JOB_TRANSITIONS[status].length === 0;
}
