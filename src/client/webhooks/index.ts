/** The receiver's side of webhooks alone: `vloc/webhooks`. */

export { Failure, type FailureCategory, type FailureFacts } from '../../base/failure.ts';
export {
  type ReceivedWebhook,
  type VerifiedWebhook,
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  type WebhookRules,
} from './verify-webhook.ts';
