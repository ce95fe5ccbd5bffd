/** All sentences of the specification that a service can keep or break, by section. */
import { AUTHENTICATION_SENTENCES, EVENT_SENTENCES } from './sentences/access.ts';
import { ENDPOINT_SENTENCES, OPERATION_SENTENCES, type OperationSentenceId } from './sentences/endpoints.ts';
import { ERROR_SENTENCES, LIMIT_SENTENCES } from './sentences/errors.ts';
import { RESOURCE_SENTENCES } from './sentences/resources.ts';
import type { Sentences } from './sentences/sentence.ts';
import { SERVICE_SENTENCES } from './sentences/service.ts';
import { STATE_SENTENCES } from './sentences/states.ts';

export type SentenceId =
  | keyof typeof SERVICE_SENTENCES
  | keyof typeof RESOURCE_SENTENCES
  | keyof typeof STATE_SENTENCES
  | keyof typeof ENDPOINT_SENTENCES
  | OperationSentenceId
  | keyof typeof AUTHENTICATION_SENTENCES
  | keyof typeof EVENT_SENTENCES
  | keyof typeof ERROR_SENTENCES
  | keyof typeof LIMIT_SENTENCES;

/** In the order of the specification. */
export const SENTENCES: Readonly<Record<string, Sentences>> = {
  'What the service does': SERVICE_SENTENCES,
  'Resources and their fields': RESOURCE_SENTENCES,
  'States and transitions': STATE_SENTENCES,
  Endpoints: ENDPOINT_SENTENCES,
  'Operation table': OPERATION_SENTENCES,
  Authentication: AUTHENTICATION_SENTENCES,
  Events: EVENT_SENTENCES,
  Errors: ERROR_SENTENCES,
  'Limits and versioning': LIMIT_SENTENCES,
};
