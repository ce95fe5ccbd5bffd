/** The files of a result, in every form that the contract lists ("Jobs", asset, tolerant). */
import { KINDS, type Kind, type ResultPart } from '../../protocol/kinds.ts';
import { asNumber, asObject, asText, type JsonObject, member, missingField } from './record.ts';
import { requestIdOf } from './request-ids.ts';
import type { Asset, Job } from './resources.ts';

export type AssetPart = Extract<ResultPart, { type: 'asset' }>;

export interface JobAsset {
  /** The field of `result`: `vocal_audio`, `subtitle`. */
  readonly name: string;
  readonly asset: Asset;
  /** What the table of kinds says about it: extension, content type, label. */
  readonly kindPart: AssetPart;
}

/**
 * The files that a job's result promises by its kind; empty unless it succeeded.
 * @throws Failure naming the field and the request when a promised file has no address
 */
export function assetsOf(job: Job): JobAsset[] {
  if (job.status !== 'succeeded') return [];
  const parts: Kind['result'] = KINDS[job.object].result;
  return Object.entries(parts).flatMap(([name, kindPart]) =>
    kindPart.type === 'asset' ? [{ name, asset: needAsset(job, name), kindPart }] : [],
  );
}

function needAsset(job: Job, name: string): Asset {
  const value = job.result === null ? undefined : member(job.result, name);
  const inherited = asText(job.result?.expires_at) ?? job.expires_at;
  const asset = readAsset(value, inherited);
  if (asset !== null) return asset;
  const origin = { subject: `the job ${job.id}`, requestId: requestIdOf(job) };
  throw missingField(origin, `result.${name}`, value).with({ jobId: job.id });
}

function readAsset(value: unknown, inheritedExpiry: string | null): Asset | null {
  const object: JsonObject | null = typeof value === 'string' ? { url: value } : asObject(value);
  if (object === null) return null;
  const url = asText(member(object, 'url')) ?? asText(member(object, 'download_url'));
  if (url === null) return null;
  const size = asNumber(member(object, 'size_bytes'));
  const sha256 = asText(member(object, 'sha256'))?.toLowerCase() ?? '';
  return {
    url,
    expires_at: asText(member(object, 'expires_at')) ?? inheritedExpiry,
    content_type: asText(member(object, 'content_type')),
    size_bytes: size !== null && Number.isSafeInteger(size) && size >= 0 ? size : null,
    sha256: /^[0-9a-f]{64}$/.test(sha256) ? sha256 : null,
  };
}
