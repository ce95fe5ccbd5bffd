/** Subtitles in another format than the service's own: downloaded to a temporary file, then written under their name. */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FindInput } from '../../disk/find-input.ts';
import type { SubtitleRewrite } from '../plan/delivery.ts';
import { placeFile } from './place-file.ts';
import { isSameFile } from './same-file.ts';

/** Size in bytes, SHA-256 in lower-case hex. */
interface Rewritten {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * @param fetch brings the SRT to a path, whose folder is there
 * @throws Failure as `fetch` and `placeFile` do; a file of these very bytes is taken for the result
 */
export async function rewriteResult(
  fetch: (to: string) => Promise<unknown>,
  target: string,
  rewrite: SubtitleRewrite,
  overwrite: boolean,
  findInput: FindInput | undefined,
): Promise<Rewritten> {
  const aside = await mkdtemp(join(tmpdir(), 'vloc-subtitle-'));
  try {
    const fetched = join(aside, 'result.srt');
    await fetch(fetched);
    const content = await rewrite.apply(await readFile(fetched));
    const facts = { bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') };
    // An earlier run may have been killed behind it.
    if (await isSameFile(target, facts)) return facts;
    const made = join(aside, 'made');
    await writeFile(made, content);
    await placeFile(made, target, overwrite, findInput);
    return facts;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** The same for subtitles that were joined from parts, where they lie. @param files by the labels of their assets */
export async function rewriteJoined(
  files: readonly { readonly label: string; readonly path: string }[],
  rewrite: SubtitleRewrite | undefined,
): Promise<void> {
  if (rewrite === undefined) return;
  for (const { label, path } of files) {
    if (label === 'subtitle') await writeFile(path, await rewrite.apply(await readFile(path)));
  }
}
