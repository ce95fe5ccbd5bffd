/** Turns a request into its answer: checks, route, handler. Failures become answers too. */
import { isDiskFull } from '../../base/system-error.ts';
import type { AuthHeaderReader } from '../auth/authenticate.ts';
import type { ServiceContext } from '../context.ts';
import { serveAsset } from '../downloads.ts';
import { DISK_FAILURE_DETAIL } from '../folders.ts';
import { CallerGone } from '../http/body.ts';
import type { Exchange, ServiceResponse } from '../http/exchange.ts';
import { answerRefusal, Refusal } from '../http/refusal.ts';
import type { Router } from '../http/router.ts';
import { checkSanity, type RequestTarget } from '../http/sanity.ts';
import { answerErrorPage, type OperatorPages } from '../operate/pages.ts';
import { receiveObject } from '../uploads/receive.ts';
import { answerOperation } from './signed.ts';

/** A person must free disk space, so retrying within a minute does not help. */
const RETRY_AFTER_SECONDS = '60';

export interface Dispatch {
  readonly context: ServiceContext;
  readonly route: Router;
  readonly readHeaders: AuthHeaderReader;
  readonly pages: OperatorPages;
}

/** Answers a request; throws CallerGone if the caller disconnected. */
export async function dispatchRequest(parts: Dispatch, exchange: Exchange): Promise<ServiceResponse> {
  const { context } = parts;
  exchange.path = pathOf(exchange.request.url ?? '');
  try {
    const target = checkSanity(exchange.request, context.config.headerPrefix);
    exchange.path = target.path;
    return await handle(parts, exchange, target);
  } catch (error) {
    if (error instanceof CallerGone) throw error;
    return answerRefusal(
      error instanceof Refusal ? error : refuseUnexpected(context, exchange, error),
      exchange,
      context.origin(),
    );
  }
}

/** The path as sent, for the answer to a target without a canonical form: never the query, which may have a secret. */
function pathOf(target: string): string {
  return target.startsWith('/') ? target.replace(/[?#].*$/s, '') : '/';
}

async function handle(parts: Dispatch, exchange: Exchange, target: RequestTarget): Promise<ServiceResponse> {
  const { context } = parts;
  const { method = '' } = exchange.request;
  const match = parts.route(method, target.path);
  if (!match.found) throw refuseUnrouted(method, target.path, match.allowed);
  const { route, parameters } = match;
  exchange.route = route;
  switch (route.type) {
    case 'operation':
      return answerOperation(context, parts.readHeaders, exchange, {
        operation: route.operation,
        target,
        parameters,
      });
    case 'object':
      return receiveObject(context, exchange, parameters.upload_id ?? '', target.query);
    case 'asset':
      return serveAsset(context, exchange, {
        jobId: parameters.job_id ?? '',
        name: parameters.name ?? '',
        query: target.query,
      });
    case 'errorPage':
      return answerErrorPage(parameters.code ?? '');
    case 'page':
      return parts.pages.answer[route.name](exchange);
  }
}

function refuseUnrouted(method: string, path: string, allowed: readonly string[]): Refusal {
  if (allowed.length === 0) return new Refusal('RESOURCE_NOT_FOUND', `there is nothing at ${path}`);
  const list = allowed.join(', ');
  return new Refusal('METHOD_NOT_ALLOWED', `${path} accepts ${list}, not ${method}`, {
    headers: { Allow: list },
  });
}

function refuseUnexpected(context: ServiceContext, exchange: Exchange, error: unknown): Refusal {
  context.log({ level: 'error', message: 'a request failed', requestId: exchange.id, error });
  if (isDiskFull(error)) {
    const headers = { 'Retry-After': RETRY_AFTER_SECONDS };
    return new Refusal('SERVICE_TEMPORARILY_UNAVAILABLE', DISK_FAILURE_DETAIL, { headers });
  }
  return new Refusal('INTERNAL_ERROR', `the service failed; its log has the cause under ${exchange.id}`);
}
