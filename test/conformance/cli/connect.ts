/** Connects to the service in the arguments, and reads the files and secrets for the run. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openControlled } from '../control.ts';
import { startMediaHost } from '../media/host.ts';
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

/** A short video with speech. */
const SAMPLE = fileURLToPath(new URL('../../fixtures/sample.mp4', import.meta.url));

/**
 * Connects to the service. @throws UsageError if a secret or a file is missing; the cause if the service does not
 * answer
 */
export function connect(given: Arguments, env: Environment): Promise<Connection> {
  const { target } = given;
  return target.type === 'key'
    ? connectWithKey(given, target, env)
    : connectWithControl(given, target.url, env);
}

const patienceOf = ({ patienceSeconds }: Arguments, withLimits: boolean) => ({
  everyMs: POLL_MS,
  atMostMs: patienceSeconds * 1000,
  withLimits,
});

async function connectWithKey(
  given: Arguments,
  { baseUrl, key }: { baseUrl: string; key: string },
  env: Environment,
): Promise<Connection> {
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
    patience: patienceOf(given, true),
  });
  return { service, close };
}

/** The service is on this machine, so it can fetch videos from here and send webhooks here, in workspaces that allow it. */
async function connectWithControl(given: Arguments, url: string, env: Environment): Promise<Connection> {
  const token = requireSecret(env, 'CONFORMANCE_CONTROL_TOKEN');
  const media = await readMedia(given.media ?? SAMPLE);
  const host = await startMediaHost(null, media.bytes);
  const receiver = await startReceiver({ host: '127.0.0.1', port: 0, publicUrl: null, certificate: null });
  const closeServers = () => Promise.all([host.close(), receiver.close()]);
  try {
    const run = await openControlled({
      control: { url, token },
      headerPrefix: given.headerPrefix,
      strict: given.strict,
      languages: given.languages,
      supplies: { jobs: given.jobs, media, mediaUrl: host.url, ffmpeg: await findVideoMaker() },
      receiver,
      // A rule that needs a rate limit opens a workspace with one.
      patience: patienceOf(given, false),
    });
    return {
      service: run.service,
      async close() {
        await run.close();
        await closeServers();
      },
    };
  } catch (error) {
    await closeServers();
    throw error;
  }
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
