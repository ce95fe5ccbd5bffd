/** A refused link is read once more from the job, since a service may mint a new one. Source: contract, "Jobs". */
import { basename } from 'node:path';
import { isApiAnswer } from '../../errors/failure.ts';
import type { Asset } from '../read/resources.ts';
import type { Outcome } from '../transport/retry-loop.ts';
import type { StorageRefusal } from '../transport/storage-refusal.ts';
import { linkRefused, resultExpired } from './download-failure.ts';
import { type Download, needsHash } from './download-state.ts';

/**
 * @param refusal the answer that refused the link
 * @throws Failure when the job has no other link, or was asked before
 */
export async function renewLink(download: Download, refusal: StorageRefusal): Promise<Outcome<void>> {
  const { context, part, state, options } = download;
  const name = basename(options.to);
  const refusedUntil = (expiresAt: string | null) => linkRefused(name, refusal, expiresAt);
  if (state.refreshed || options.refresh === undefined) throw refusedUntil(state.asset.expires_at);
  state.refreshed = true;
  const renewed = await readAgain(options.refresh, () => resultExpired(name, refusal.said));
  if (renewed === null || !isOther(state.asset, renewed))
    throw refusedUntil((renewed ?? state.asset).expires_at);
  if (renewed.sha256 !== state.asset.sha256) await part.restart(needsHash(renewed, options));
  state.asset = renewed;
  const message = 'the download address was refused; the job gave another';
  context.emit({ type: 'notice', code: 'LINK_REFRESHED', message });
  return { type: 'failed', failure: refusedUntil(renewed.expires_at), advice: { type: 'at-once' } };
}

/** A job that is gone has no other address either. */
async function readAgain(refresh: () => Promise<Asset | null>, gone: () => Error): Promise<Asset | null> {
  try {
    return await refresh();
  } catch (error) {
    if (isApiAnswer(error, 404)) throw gone();
    throw error;
  }
}

function isOther(before: Asset, after: Asset): boolean {
  return before.url !== after.url || Date.parse(after.expires_at ?? '') > Date.parse(before.expires_at ?? '');
}
