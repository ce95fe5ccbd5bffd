/** Downloads a result: `.part`, Range, checks, rename. Source: design, "Wait, outputs, money"; contract, "Jobs". */
import { unlink } from 'node:fs/promises';
import type { ClientContext } from '../context.ts';
import type { Asset } from '../read/resources.ts';
import { withRetries } from '../transport/retry.ts';
import { attemptDownload, type DownloadState, needsHash } from './download-attempt.ts';
import type { DownloadedFile, DownloadOptions } from './download-options.ts';
import { openPartFile, type PartFile, partOf } from './part-file.ts';
import { prepareTarget, publishPart, refuseInput } from './publish.ts';

/**
 * Fetches a file with constant memory; under its name it is either whole and checked, or not there at all.
 * @throws Failure: `expired` when the address has lapsed for good, `disk`, `usage` when the target exists, `temporary`;
 *   the part stays for the next run, unless its bytes are wrong
 */
export async function downloadAsset(
  context: ClientContext,
  asset: Asset,
  options: DownloadOptions,
): Promise<DownloadedFile> {
  const { to, overwrite = false, findInput } = options;
  const path = options.part ?? partOf(to);
  for (const written of [to, path]) await refuseInput(written, findInput);
  await prepareTarget(to, overwrite);
  const part = await openPartFile(path, { keep: asset.sha256 !== null, hashed: needsHash(asset, options) });
  try {
    const state: DownloadState = {
      asset,
      validator: null,
      total: null,
      refreshed: false,
      restarted: false,
    };
    await withRetries(context, { signal: options.signal }, (number) =>
      attemptDownload({ context, part, state, options }, number),
    );
    const finished = { path: to, bytes: part.length, sha256: part.digest() };
    await part.seal();
    await options.beforePublish?.(finished);
    await publishPart(path, to, overwrite, findInput);
    return finished;
  } catch (error) {
    await leave(part);
    throw error;
  }
}

/** Closes the part, and removes an empty one. */
async function leave(part: PartFile): Promise<void> {
  await part.close().catch(() => {});
  if (part.length === 0) await unlink(part.path).catch(() => {});
}
