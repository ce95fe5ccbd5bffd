/** Specification: "States and transitions". */
import type { Sentences } from './sentence.ts';

export const STATE_SENTENCES = {
  'job.queued': 'queued: persisted, waiting for execution',
  'job.processing': 'processing: being processed; may include bounded retries or takeover',
  'job.succeeded': 'succeeded: the promised final result exists',
  'job.failed': 'failed: the promised final result cannot be produced',
  'job.cancelled': 'cancelled: the caller cancelled; no new steps are started',
  'transition.created': 'creation → queued: 202, job persisted',
  'transition.started': 'queued → processing when execution starts',
  'transition.succeeded': 'processing → succeeded: result and download addresses available',
  'transition.failed': 'processing → failed when the result cannot be produced',
  'transition.cancelled':
    'queued or processing → cancelled: 202 with the resource; the record is not deleted',
  'transition.localization': 'cancel of an auto localization stops the start of new internal stages',
  'transition.localization-kept': {
    text: 'internal results of a cancelled auto localization are not cleared',
    unseen: 'internal results are not exposed',
  },
  'failed.conditions': 'conditions that lead to `failed`: not shown',
  'upload-transition.created': 'createUpload → waiting_for_upload, with a direct-upload address',
  'upload-transition.completed':
    'waiting_for_upload → validating when the ETag is submitted; 202; no job is created',
  'upload-transition.ready-again': 'ready → ready when completed again: 200, usable directly',
  'upload-transition.others': 'validating to ready or failed, and expiry: not shown',
} as const satisfies Sentences;
