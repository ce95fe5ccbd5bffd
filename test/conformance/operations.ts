/** The operation table of the specification. A second copy, so that errors in the product's table are found. */

export const JOB_KINDS = [
  'audio_separation',
  'subtitle_recognition',
  'subtitle_translation',
  'dubbing',
  'auto_localization',
] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export interface KindFacts {
  /** Path of the collection below the base URL. */
  readonly path: string;
  /** Used in operation ids. */
  readonly noun: string;
  readonly input: 'video' | 'subtitle';
}

export const KINDS: Readonly<Record<JobKind, KindFacts>> = {
  audio_separation: { path: '/audio-separations', noun: 'AudioSeparation', input: 'video' },
  subtitle_recognition: { path: '/subtitle-recognitions', noun: 'SubtitleRecognition', input: 'video' },
  subtitle_translation: { path: '/subtitle-translations', noun: 'SubtitleTranslation', input: 'subtitle' },
  dubbing: { path: '/dubbings', noun: 'Dubbing', input: 'subtitle' },
  auto_localization: { path: '/auto-localizations', noun: 'AutoLocalization', input: 'video' },
};

const READ = [400, 401, 403, 429, 503] as const;
const READ_ONE = [401, 403, 404, 429, 500, 503] as const;
const CREATE = [400, 401, 402, 403, 409, 413, 422, 429, 500, 503] as const;
const CANCEL = [401, 403, 404, 409, 429, 500, 503] as const;
const RESERVE = [400, 401, 403, 409, 413, 429, 500, 503] as const;
const COMPLETE = [400, 401, 403, 404, 409, 413, 422, 429, 500, 503] as const;

/** One row each: operationId, method and path, success, declared errors, in the order of the specification. */
const ROWS = [
  ['getCredits', 'GET /credits', [200], READ],
  ['listCreditTransactions', 'GET /credit-transactions', [200], READ],
  ['createUpload', 'POST /uploads', [201], RESERVE],
  ['listUploads', 'GET /uploads', [200], READ],
  ['getUpload', 'GET /uploads/{upload_id}', [200], READ_ONE],
  ['completeUpload', 'POST /uploads/{upload_id}/completions', [200, 202], COMPLETE],
  ['createAudioSeparation', 'POST /audio-separations', [202], CREATE],
  ['listAudioSeparations', 'GET /audio-separations', [200], READ],
  ['getAudioSeparation', 'GET /audio-separations/{audio_separation_id}', [200], READ_ONE],
  ['cancelAudioSeparation', 'DELETE /audio-separations/{audio_separation_id}', [202], CANCEL],
  ['createSubtitleRecognition', 'POST /subtitle-recognitions', [202], CREATE],
  ['listSubtitleRecognitions', 'GET /subtitle-recognitions', [200], READ],
  ['getSubtitleRecognition', 'GET /subtitle-recognitions/{subtitle_recognition_id}', [200], READ_ONE],
  ['cancelSubtitleRecognition', 'DELETE /subtitle-recognitions/{subtitle_recognition_id}', [202], CANCEL],
  ['createSubtitleTranslation', 'POST /subtitle-translations', [202], CREATE],
  ['listSubtitleTranslations', 'GET /subtitle-translations', [200], READ],
  ['getSubtitleTranslation', 'GET /subtitle-translations/{subtitle_translation_id}', [200], READ_ONE],
  ['cancelSubtitleTranslation', 'DELETE /subtitle-translations/{subtitle_translation_id}', [202], CANCEL],
  ['createDubbing', 'POST /dubbings', [202], CREATE],
  ['listDubbings', 'GET /dubbings', [200], READ],
  ['getDubbing', 'GET /dubbings/{dubbing_id}', [200], READ_ONE],
  ['cancelDubbing', 'DELETE /dubbings/{dubbing_id}', [202], CANCEL],
  ['createAutoLocalization', 'POST /auto-localizations', [202], CREATE],
  ['listAutoLocalizations', 'GET /auto-localizations', [200], READ],
  ['getAutoLocalization', 'GET /auto-localizations/{auto_localization_id}', [200], READ_ONE],
  ['cancelAutoLocalization', 'DELETE /auto-localizations/{auto_localization_id}', [202], CANCEL],
] as const;

export type OperationId = (typeof ROWS)[number][0];

export interface Operation {
  readonly id: OperationId;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the base URL. Parameters are in braces. */
  readonly path: string;
  readonly success: readonly number[];
  readonly errors: readonly number[];
  /** Null for credits and uploads. */
  readonly kind: JobKind | null;
  /** True if the path names one resource. */
  readonly single: boolean;
  readonly list: boolean;
}

export const OPERATIONS: readonly Operation[] = ROWS.map(([id, methodAndPath, success, errors]) => {
  const [method = '', path = ''] = methodAndPath.split(' ');
  if (method !== 'GET' && method !== 'POST' && method !== 'DELETE') throw new Error(`${id}: ${method}`);
  const kind = JOB_KINDS.find((name) => path.startsWith(KINDS[name].path)) ?? null;
  return { id, method, path, success, errors, kind, single: path.includes('{'), list: id.startsWith('list') };
});

/** The operations with an answer about one resource. */
export const RESOURCE_OPERATIONS: readonly Operation[] = OPERATIONS.filter(
  ({ id, list }) => !list && id !== 'getCredits',
);
export const WRITES: readonly Operation[] = OPERATIONS.filter(({ method }) => method !== 'GET');

/** An id that no service creates. */
export const UNKNOWN_ID = 'no-such-resource';

/** Returns the path of an operation with its parameter filled in. */
export function pathOf(operation: Operation, id: string = UNKNOWN_ID): string {
  return operation.path.replace(/\{\w+\}/, id);
}
