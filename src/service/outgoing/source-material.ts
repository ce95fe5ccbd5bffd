/** What a job works on when its request names an address: fetched when the job runs, then checked like an upload. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Work } from '../../engines/engine.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { JobRequest } from '../../protocol/requests.ts';
import { decodeSrt, SubtitleError } from '../../protocol/srt.ts';
import type { UploadPurpose } from '../../protocol/states.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { Context } from '../context.ts';
import { countCharacters, type Size } from '../jobs/metering.ts';
import type { Material } from '../jobs/tasks.ts';
import { requireUsable } from '../uploads/inspect.ts';
import { fetchSource } from './fetch-source.ts';
import { systemNetwork } from './request.ts';

export interface SourceAddress {
  readonly purpose: UploadPurpose;
  readonly url: string;
}

/** The address that a request names as its input, or null when it names none. */
export function sourceAddress(request: JobRequest): SourceAddress | null {
  if ('source' in request) {
    return request.source.type === 'url' ? { purpose: 'source_video', url: request.source.url } : null;
  }
  return request.subtitle.type === 'url' ? { purpose: 'subtitle_file', url: request.subtitle.url } : null;
}

/**
 * The most that an input can come to. Nothing is fetched before a job is made, so this is what is reserved; what the
 * fetched input really comes to is charged, and the rest comes free.
 */
export const LARGEST_SIZE: Readonly<Record<UploadPurpose, Size>> = {
  source_video: { seconds: LIMITS.videoSeconds, lines: 0, characters: 0 },
  // A code point takes a byte at least.
  subtitle_file: { seconds: 0, lines: LIMITS.subtitleLines, characters: LIMITS.subtitleBytes },
};

export interface FetchedMaterial {
  readonly material: Material;
  readonly size: Size;
}

/**
 * Fetches the input of a job into its work folder and measures it; an attempt that is begun again fetches again.
 * @throws JobFailure SOURCE_UNREACHABLE, SOURCE_BLOCKED, SOURCE_TOO_LARGE, SUBTITLE_INVALID, those of `Engines.inspect`
 */
export async function fetchMaterial(
  context: Context,
  { purpose, url }: SourceAddress,
  { folder, signal }: Pick<Work, 'folder' | 'signal'>,
): Promise<FetchedMaterial> {
  const path = join(folder, 'fetched-source');
  const network = systemNetwork({ allowLoopback: context.config.allowLoopback });
  await fetchSource(url, purpose, path, { network, clock: context.clock, signal });
  if (purpose === 'subtitle_file') {
    const lines = await readSubtitle(path);
    const size = { seconds: 0, lines: lines.length, characters: countCharacters(lines) };
    return { material: { video: '', lines }, size };
  }
  const media = await (await context.engines()).inspect(path, signal);
  requireUsable(media);
  const size = { seconds: media.duration_seconds, lines: 0, characters: 0 };
  return { material: { video: path, lines: [] }, size };
}

async function readSubtitle(path: string): Promise<SubtitleLine[]> {
  try {
    return decodeSrt(await readFile(path));
  } catch (error) {
    if (!(error instanceof SubtitleError)) throw error;
    throw new JobFailure('SUBTITLE_INVALID', error.message, { cause: error });
  }
}
