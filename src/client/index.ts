/** The client of the service, for programs as for the commands: `createClient({baseUrl, key, secret})`. */

export { Failure, type FailureCategory, type FailureFacts } from '../base/failure.ts';
export type { JobKind } from '../protocol/kind-names.ts';
export type { JobRequestInput, UploadRequest } from '../protocol/request-types.ts';
export type { ApiResponse, Call, CallOptions, ClientEvent, QueryValue } from './call.ts';
export type { Client } from './client.ts';
export { createClient } from './client.ts';
export type { Credits } from './credits.ts';
export type { DownloadedFile as Downloaded, DownloadOptions } from './download/download.ts';
export type { JobFilters, Jobs, ListFilters, WaitForJob } from './jobs/jobs.ts';
export type { WaitOptions } from './jobs/poll.ts';
export { type AssetPart, assetsOf, type JobAsset } from './read/job.ts';
export type { Pages } from './read/record.ts';
export type * from './read/resources.ts';
export type { Runtime } from './runtime.ts';
export type { ClientOptions } from './transport/context.ts';
export type { Timeouts } from './transport/http.ts';
export type { ProxySettings } from './transport/proxy.ts';
export type { SendFileOptions, SentFile, UploadProgress } from './upload/send-file.ts';
export type { UploadFilters, Uploads } from './upload/uploads.ts';
export type {
  ReceivedWebhook,
  WebhookEvent,
  WebhookHeaders,
  WebhookRules,
} from './webhooks/verify-webhook.ts';
export { type VerifiedWebhook, verifyWebhook } from './webhooks/verify-webhook.ts';
