/** Connects to the service in the arguments, and reads the files and secrets for the run. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { findVideoMaker } from '../media/make.ts';
import { describeService, type ServiceUnderTest, type Supplies, type UploadFile } from '../service.ts';
import { startReceiver } from '../webhooks.ts';
import { send } from '../wire/exchange.ts';
import { type Arguments, UsageError } from './arguments.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Connection {
  readonly service: ServiceUnderTest;
  close(): Promise<void>;
}

/** Short enough to see a short job in progress, long enough not to load the service. */
const POLL_MS = 1000;

/** Connects to the service. @throws UsageError if a secret or a file is missing; the cause if the service does not answer */
export async function connect(given: Arguments, env: Environment): Promise<Connection> {
  const { baseUrl, key } = given;
  const credentials = { key, secret: requireSecret(env, 'CONFORMANCE_SECRET') };
  const offsetMs = await measureOffset(baseUrl);
  const { supplies, close } = await gather(given, env);
  const service = describeService({
    baseUrl,
    credentials,
    headerPrefix: given.headerPrefix,
    strict: given.strict,
    languages: given.languages,
    supplies,
    admin: null,
    now: () => Date.now() + offsetMs,
    patience: { everyMs: POLL_MS, atMostMs: given.patienceSeconds * 1000, withLimits: true },
  });
  return { service, close };
}

function requireSecret(env: Environment, name: string): string {
  const secret = env[name];
  if (secret === undefined || secret === '') throw new UsageError(`the variable ${name} is not set`);
  return secret;
}

/**
 * Returns how far the clock of the service is ahead of the local clock, from its Date header. Unsigned, so that it
 * costs nothing.
 */
async function measureOffset(baseUrl: string): Promise<number> {
  const { origin, pathname } = new URL(baseUrl);
  const target = `${pathname.replace(/\/$/, '')}/credits`;
  const answer = await send({ method: 'GET', origin, target, headers: {}, body: null });
  const served = Date.parse(answer.headers.date ?? '');
  // The header counts whole seconds, so a difference below two seconds may only be rounding.
  const offset = served - Date.now();
  return Number.isNaN(offset) || Math.abs(offset) < 2000 ? 0 : offset;
}

async function gather(
  given: Arguments,
  env: Environment,
): Promise<{ supplies: Supplies; close: () => Promise<void> }> {
  const { webhooks } = given;
  const media = given.media === null ? null : await readMedia(given.media);
  const otherKey =
    given.otherKey === null
      ? null
      : { key: given.otherKey, secret: requireSecret(env, 'CONFORMANCE_OTHER_SECRET') };
  const secret = webhooks === null ? '' : requireSecret(env, 'CONFORMANCE_WEBHOOK_SECRET');
  const receiver =
    webhooks === null
      ? null
      : await startReceiver({
          host: '0.0.0.0',
          port: webhooks.port,
          publicUrl: webhooks.url,
          certificate: null,
        });
  return {
    supplies: {
      jobs: given.jobs,
      media,
      mediaUrl: given.mediaUrl,
      ffmpeg: await findVideoMaker(),
      otherKey,
      webhooks: receiver === null ? null : { receiver, secret },
    },
    close: async () => receiver?.close(),
  };
}

async function readMedia(path: string): Promise<UploadFile> {
  try {
    const bytes = await readFile(path);
    return { purpose: 'source_video', name: basename(path), contentType: 'video/mp4', bytes };
  } catch (error) {
    throw new UsageError(`--media: ${error instanceof Error ? error.message : String(error)}`);
  }
}
