/** A refused link is read once more from the job, since a service may mint a new one. Source: contract, "Jobs". */
import { basename } from 'node:path';
import { Failure } from '../failure.ts';
import type { Asset } from '../read/resources.ts';
import type { Outcome } from '../transport/retry-loop.ts';
import { linkExpired } from './download-failure.ts';
import { type Download, needsHash } from './download-state.ts';

/**
 * @param status of the answer that refused the link  @param said what storage says in words, empty without any
 * @throws Failure (`expired`) when there is no other link, or it was asked for before
 */
export async function renewLink(download: Download, status: number, said: string): Promise<Outcome<void>> {
  const { context, part, state, options } = download;
  const failure = linkExpired(basename(options.to), status, said);
  if (state.refreshed || options.refresh === undefined) throw failure;
  state.refreshed = true;
  const renewed = await readAgain(options.refresh, failure);
  if (renewed === null || !isOther(state.asset, renewed)) throw failure;
  if (renewed.sha256 !== state.asset.sha256) await part.restart(needsHash(renewed, options));
  state.asset = renewed;
  const message = 'the download address was refused; the job gave another';
  context.emit({ type: 'notice', code: 'LINK_REFRESHED', message });
  return { type: 'failed', failure, advice: { type: 'at-once' } };
}

/** A job that is gone has no other address either. */
async function readAgain(refresh: () => Promise<Asset | null>, failure: Failure): Promise<Asset | null> {
  try {
    return await refresh();
  } catch (error) {
    if (error instanceof Failure && error.facts.status === 404) throw failure;
    throw error;
  }
}

function isOther(before: Asset, after: Asset): boolean {
  return before.url !== after.url || Date.parse(after.expires_at ?? '') > Date.parse(before.expires_at ?? '');
}
