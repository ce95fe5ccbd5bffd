/** Reads settings from a file and from flags, and makes options of the service of them. */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import type { FieldError } from '../../protocol/problem.ts';
import { DEFAULT_CONFIG, type ServiceConfig } from '../config.ts';
import type { ServiceOptions } from '../options.ts';
import { type Settings, SettingsSchema } from './settings.ts';

/** Settings that cannot be used; the message names where they stand, `errors` every field at fault. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly errors: readonly FieldError[];

  constructor(message: string, errors: readonly FieldError[] = [], options?: ErrorOptions) {
    super(message, options);
    this.errors = errors;
  }
}

/** This machine alone: monitoring from elsewhere is allowed by name. */
const METRICS_FROM = ['127.0.0.1', '::1'];
const HOUR_MS = 60 * 60_000;

/**
 * Reads a configuration file: JSON with the fields of `SettingsSchema`.
 * @throws SettingsError
 */
export async function readSettingsFile(path: string): Promise<Settings> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new SettingsError(`${path} cannot be read: ${messageOf(error)}`, [], { cause: error });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SettingsError(`${path} is not JSON: ${messageOf(error)}`, [], { cause: error });
  }
  return checkSettings(value, `${path} cannot be used`);
}

/**
 * Checks settings, wherever they come from.
 * @param complaint start of the message when they are wrong
 * @throws SettingsError
 */
export function checkSettings(value: unknown, complaint: string): Settings {
  const result = v.safeParse(SettingsSchema, value);
  if (result.success) return result.output;
  throw new SettingsError(complaint, result.issues.map(describeIssue));
}

function describeIssue(issue: v.BaseIssue<unknown>): FieldError {
  const pointer = v.getDotPath(issue) ?? 'the file';
  if (issue.type === 'strict_object' && issue.expected === 'never') {
    return { pointer, detail: 'there is no such setting' };
  }
  if (issue.received === 'undefined') return { pointer, detail: 'is missing' };
  return { pointer, detail: issue.message };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Options of the service; what is not set keeps its default. */
export function optionsOf(settings: Settings, stateDir: string): ServiceOptions {
  const { host, port, state_dir, trusted_proxies = [], metrics_from = METRICS_FROM } = settings;
  return {
    stateDir: state_dir ?? stateDir,
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    trustedProxies: trusted_proxies,
    metricsFrom: metrics_from,
    config: configOf(settings),
  };
}

function configOf(settings: Settings): ServiceConfig {
  const { rate, plan_ends_at: planEndsAt, job_deadline_hours: hours } = settings;
  return {
    headerPrefix: settings.header_prefix ?? DEFAULT_CONFIG.headerPrefix,
    publicOrigin: settings.public_origin ?? DEFAULT_CONFIG.publicOrigin,
    openingCredits: settings.opening_credits ?? DEFAULT_CONFIG.openingCredits,
    prices: { ...DEFAULT_CONFIG.prices, ...settings.prices },
    concurrentTasks: settings.concurrent_tasks ?? DEFAULT_CONFIG.concurrentTasks,
    rate:
      rate === undefined
        ? DEFAULT_CONFIG.rate
        : { requests: rate.requests, windowSeconds: rate.window_seconds },
    planEndsAt:
      planEndsAt === undefined || planEndsAt === null ? DEFAULT_CONFIG.planEndsAt : Date.parse(planEndsAt),
    workers: settings.workers ?? DEFAULT_CONFIG.workers,
    webhookSlots: settings.webhook_slots ?? DEFAULT_CONFIG.webhookSlots,
    allowLoopback: settings.allow_loopback ?? DEFAULT_CONFIG.allowLoopback,
    attempts: settings.attempts ?? DEFAULT_CONFIG.attempts,
    jobDeadlineMs: hours === undefined ? DEFAULT_CONFIG.jobDeadlineMs : hours * HOUR_MS,
  };
}
