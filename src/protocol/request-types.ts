/**
 * Types of request bodies, derived from the table of kinds. Contains no validators, so that users of the client do not
 * need them.
 */
import type { JobKind } from './kind-names.ts';
import type { Kinds } from './kinds.ts';
import type { UploadPurpose } from './states.ts';
import type { SubtitleLine } from './subtitle-line.ts';

export type Source = { type: 'url'; url: string } | { type: 'upload'; upload_id: string };
export type SubtitleInput = Source | { type: 'lines'; lines: SubtitleLine[] };

type Value<F> = F extends { type: 'source' }
  ? Source
  : F extends { type: 'subtitle' }
    ? SubtitleInput
    : F extends { type: 'choice'; choices: readonly (infer Choice)[] }
      ? Choice
      : string;

type Required<Fields> = {
  [N in keyof Fields as Fields[N] extends { required: true } ? N : never]: Value<Fields[N]>;
};
type Defaulted<Fields> = {
  [N in keyof Fields as Fields[N] extends { default: string } ? N : never]: Value<Fields[N]>;
};

interface CommonRequest {
  client_reference?: string | undefined;
  callback_url?: string | undefined;
}

/** A validated create request with defaults filled in. */
export type JobRequest<K extends JobKind = JobKind> = {
  [Each in K]: Required<Kinds[Each]['fields']> & Defaulted<Kinds[Each]['fields']> & CommonRequest;
}[K];

/** A create request as callers write it. Fields with defaults are optional. */
export type JobRequestInput<K extends JobKind> = Required<Kinds[K]['fields']> & {
  [N in keyof Defaulted<Kinds[K]['fields']>]?: Defaulted<Kinds[K]['fields']>[N] | undefined;
} & CommonRequest;

/** The body of `POST /uploads`. */
export interface UploadRequest {
  purpose: UploadPurpose;
  file_name: string;
  content_type: string;
  size_bytes: number;
  client_reference?: string | undefined;
}

/** The body of `POST /uploads/{upload_id}/completions`. */
export interface CompletionRequest {
  etag: string;
}
