import type { JobKind } from './kind-names.ts';

/** Prefixes of ids. spec: open — except `req_` and `evt_`. */
export const ID_PREFIXES = {
  upload: 'upl',
  audio_separation: 'sep',
  subtitle_recognition: 'rec',
  subtitle_translation: 'tra',
  dubbing: 'dub',
  auto_localization: 'loc',
  credit_transaction: 'txn',
  request: 'req',
  event: 'evt',
} as const satisfies Record<JobKind | 'upload' | 'credit_transaction' | 'request' | 'event', string>;

export type IdSubject = keyof typeof ID_PREFIXES;
