/** All rules, in the order of the specification. */
import type { Rule } from './rule.ts';
import { ACCESS_RULES } from './rules/access.ts';
import { BILLING_RULES } from './rules/billing.ts';
import { CANCEL_RULES } from './rules/cancel.ts';
import { CANONICAL_FORM_RULES } from './rules/canonical-form.ts';
import { COMPLETION_RULES } from './rules/completions.ts';
import { CREDIT_RULES } from './rules/credits.ts';
import { CURSOR_RULES } from './rules/cursors.ts';
import { DELIVERY_RULES } from './rules/deliveries.ts';
import { DOWNLOAD_RULES } from './rules/downloads.ts';
import { ENVELOPE_RULES } from './rules/envelope.ts';
import { ERROR_RULES } from './rules/errors.ts';
import { EVENT_RULES } from './rules/events.ts';
import { FILTER_RULES } from './rules/filters.ts';
import { FRESHNESS_RULES } from './rules/freshness.ts';
import { HEADER_RULES } from './rules/headers.ts';
import { IDEMPOTENCY_RULES } from './rules/idempotency.ts';
import { IDEMPOTENCY_KEY_RULES } from './rules/idempotency-keys.ts';
import { IDENTIFIER_RULES } from './rules/identifiers.ts';
import { INPUT_RULES } from './rules/inputs.ts';
import { LIMIT_RULES } from './rules/limits.ts';
import { LIST_ITEM_RULES } from './rules/list-item.ts';
import { OPERATION_ERROR_RULES } from './rules/operation-errors.ts';
import { OPERATION_RULES } from './rules/operations.ts';
import { PAGING_RULES } from './rules/paging.ts';
import { PARAMETER_RULES } from './rules/parameters.ts';
import { RAW_HTTP_RULES } from './rules/raw-http.ts';
import { REQUEST_RULES } from './rules/requests.ts';
import { RESERVATION_RULES } from './rules/reservations.ts';
import { RESULT_RULES } from './rules/results.ts';
import { SIGNATURE_RULES } from './rules/signature.ts';
import { SIGNATURE_HEADER_RULES } from './rules/signature-headers.ts';
import { STATE_RULES } from './rules/states.ts';
import { SURFACE_RULES } from './rules/surface.ts';
import { UPLOAD_RULES } from './rules/uploads.ts';
import { VALIDATION_RULES } from './rules/validation.ts';

/** What becomes of uploads, jobs, results and credits. */
export const RESOURCE_RULES: readonly Rule[] = [
  ...SURFACE_RULES,
  ...ENVELOPE_RULES,
  ...LIST_ITEM_RULES,
  ...IDENTIFIER_RULES,
  ...RESULT_RULES,
  ...DOWNLOAD_RULES,
  ...UPLOAD_RULES,
  ...RESERVATION_RULES,
  ...COMPLETION_RULES,
  ...VALIDATION_RULES,
  ...CREDIT_RULES,
  ...BILLING_RULES,
  ...STATE_RULES,
  ...CANCEL_RULES,
];

/** What holds for requests, answers and webhooks, whatever they are about. */
export const TRAFFIC_RULES: readonly Rule[] = [
  ...HEADER_RULES,
  ...IDEMPOTENCY_KEY_RULES,
  ...IDEMPOTENCY_RULES,
  ...PARAMETER_RULES,
  ...FILTER_RULES,
  ...PAGING_RULES,
  ...CURSOR_RULES,
  ...OPERATION_RULES,
  ...OPERATION_ERROR_RULES,
  ...REQUEST_RULES,
  ...INPUT_RULES,
  ...SIGNATURE_HEADER_RULES,
  ...SIGNATURE_RULES,
  ...CANONICAL_FORM_RULES,
  ...FRESHNESS_RULES,
  ...ACCESS_RULES,
  ...EVENT_RULES,
  ...DELIVERY_RULES,
  ...ERROR_RULES,
  ...LIMIT_RULES,
  ...RAW_HTTP_RULES,
];

export const RULES: readonly Rule[] = [...RESOURCE_RULES, ...TRAFFIC_RULES];
