/** Assets of results, in every form that the vloc client supports. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { expectStatus } from '../expect/answer.ts';
import type { JobKind } from '../operations.ts';
import type { ServiceUnderTest } from '../service.ts';
import { type Headers, type Incoming, send } from '../wire/exchange.ts';
import { instantAt, isObject, show, valueAt } from '../wire/json.ts';
import { type Finished, finishedJob } from './jobs.ts';

/** The files of a result, by kind. */
export const ASSETS: Readonly<Record<JobKind, readonly string[]>> = {
  audio_separation: ['vocal_audio', 'background_audio'],
  subtitle_recognition: ['subtitle'],
  subtitle_translation: ['subtitle'],
  dubbing: ['audio'],
  auto_localization: ['video'],
};

/** Returns the URL of an asset: the asset itself, or its `url` or `download_url`. */
export function addressOf(asset: unknown): string {
  if (typeof asset === 'string') return asset;
  const url = isObject(asset) ? (asset.url ?? asset.download_url) : undefined;
  if (typeof url !== 'string') assert.fail(`an asset has no address: ${show(asset)}`);
  return url;
}

/** Returns when an asset expires, in ms since 1970: the value of the asset, else of its result, else of its job. */
export function expiryOf(job: unknown, asset: unknown): number {
  const places = [asset, valueAt(job, 'result'), job];
  const nearest = places.find((place) => isObject(place) && Object.hasOwn(place, 'expires_at'));
  if (nearest === undefined) assert.fail('neither the asset, nor its result, nor its job has expires_at');
  return instantAt(nearest, 'expires_at');
}

/** Fetches a URL without a key, as anyone could. */
export function fetchAddress(address: string, headers: Headers = {}, method = 'GET'): Promise<Incoming> {
  const { origin, pathname, search } = new URL(address);
  return send({ method, origin, target: pathname + search, headers, body: null });
}

/**
 * Whether an address leads to storage of its own, such as a bucket of S3. Its clock is not that of the service, and some of its
 * answers differ.
 */
export function leadsElsewhere(service: Pick<ServiceUnderTest, 'origin'>, address: string): boolean {
  return new URL(address).origin !== service.origin;
}

export interface FetchedAsset {
  readonly name: string;
  readonly asset: unknown;
  readonly answer: Incoming;
}

/** Fetches the assets of the finished job of a kind. */
export async function fetchAssets(
  service: ServiceUnderTest,
  kind: JobKind,
): Promise<{ job: Finished; assets: FetchedAsset[] }> {
  const job = await finishedJob(service, kind);
  const assets: FetchedAsset[] = [];
  for (const name of ASSETS[kind]) {
    const asset = valueAt(job.last.json, 'result', name);
    const answer = await fetchAddress(addressOf(asset));
    expectStatus(answer, 200);
    assets.push({ name, asset, answer });
  }
  return { job, assets };
}

/** Fetches the SRT of the finished job of a kind that creates one. */
export async function fetchSubtitle(
  service: ServiceUnderTest,
  kind: 'subtitle_recognition' | 'subtitle_translation',
): Promise<{ job: Finished; url: string; bytes: Buffer }> {
  const { job, assets } = await fetchAssets(service, kind);
  const [file] = assets;
  assert.ok(file !== undefined, 'the result has a subtitle');
  return { job, url: addressOf(file.asset), bytes: file.answer.bytes };
}

/** Returns lower-case hexadecimal digits, as in assets. */
export function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
