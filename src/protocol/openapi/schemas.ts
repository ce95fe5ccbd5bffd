/** All schemas of the document by name. */
import * as v from 'valibot';
import { JOB_KIND_NAMES, type JobKind } from '../kind-names.ts';
import { KINDS } from '../kinds.ts';
import { LIMITS } from '../limits.ts';
import type { Operation } from '../operations.ts';
import { CompletionRequestSchema, LineSchema, requestSchema, UploadRequestSchema } from '../requests.ts';
import { AssetSchema, BillingSchema, jobSchema, summarySchema } from './job-schemas.ts';
import { describeSchemas, type JsonSchema } from './json-schemas.ts';
import {
  CreditBalanceSchema,
  CreditTransactionSchema,
  ProblemSchema,
  UploadSchema,
} from './resource-schemas.ts';
import { EventSchema } from './webhook.ts';

/** Returns the schema names of an operation: of its body (null if it has none) and of its answer. */
export function schemaNames(operation: Operation): { request: string | null; answer: string } {
  const noun = operation.kind === null ? '' : KINDS[operation.kind].noun;
  switch (operation.action) {
    case 'getCredits':
      return { request: null, answer: 'CreditBalance' };
    case 'listCreditTransactions':
      return { request: null, answer: 'CreditTransactionList' };
    case 'createUpload':
      return { request: 'UploadRequest', answer: 'Upload' };
    case 'listUploads':
      return { request: null, answer: 'UploadList' };
    case 'getUpload':
      return { request: null, answer: 'Upload' };
    case 'completeUpload':
      return { request: 'CompletionRequest', answer: 'Upload' };
    case 'createJob':
      return { request: `${noun}Request`, answer: noun };
    case 'listJobs':
      return { request: null, answer: `${noun}List` };
    case 'getJob':
    case 'cancelJob':
      return { request: null, answer: noun };
  }
}

/** Returns JSON Schemas of all bodies and of the schemas that they share. */
export function createSchemas(): JsonSchema {
  const jobs = JOB_KIND_NAMES.map(schemasOfKind);
  return describeSchemas({
    Problem: ProblemSchema,
    Asset: AssetSchema,
    Billing: BillingSchema,
    SubtitleLine: LineSchema,
    Event: EventSchema,
    CreditBalance: CreditBalanceSchema,
    CreditTransaction: CreditTransactionSchema,
    CreditTransactionList: listOf(CreditTransactionSchema),
    Upload: UploadSchema,
    UploadList: listOf(UploadSchema),
    UploadRequest: UploadRequestSchema,
    CompletionRequest: CompletionRequestSchema,
    ...Object.assign({}, ...jobs),
  });
}

function schemasOfKind(kind: JobKind): Record<string, v.GenericSchema> {
  const { noun } = KINDS[kind];
  const summary = summarySchema(kind);
  return {
    [noun]: jobSchema(kind),
    [`${noun}Summary`]: summary,
    [`${noun}List`]: listOf(summary),
    [`${noun}Request`]: requestSchema(kind),
  };
}

/** The list envelope. Source: specification, "List envelope". */
function listOf(item: v.GenericSchema): v.GenericSchema {
  return v.strictObject({
    object: v.literal('list'),
    data: v.pipe(v.array(item), v.maxLength(LIMITS.pageSize.max)),
    has_more: v.boolean(),
    next_cursor: v.nullable(v.pipe(v.string(), v.maxLength(LIMITS.cursorLength))),
  });
}
