/** Subtitles read and checked before anything is sent. Source: specification, "Limits". */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { LIMITS } from '../../protocol/limits.ts';
import { decodeSrt, SubtitleError } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { formatBytes } from '../bytes.ts';
import type { Candidate } from './candidate.ts';
import type { CheckedInput } from './checked-input.ts';
import { readVideoType } from './content.ts';
import { looksLikeJson, parseJsonLines } from './json-lines.ts';
import type { PlanIo } from './plan-io.ts';
import { statReadable } from './readable-file.ts';

/** SRT, or lines as JSON where somebody named the file: other JSON lies about in many folders. */
export async function checkSubtitle({
  path,
  label,
  name,
  isNamed,
}: Candidate & { readonly path: string }): Promise<CheckedInput> {
  const found = await statReadable(path);
  if (typeof found === 'string') return { type: 'problem', detail: found };
  if (found.bytes > 0 && (await readVideoType(path)) !== null)
    return { type: 'other', detail: 'this is a video; `vloc recognize` writes its subtitles' };
  if (found.bytes >= LIMITS.subtitleBytes)
    return {
      type: 'other',
      detail: `${formatBytes(found.bytes)} is over the limit; subtitles are under 10 MiB`,
    };
  const bytes = await readFile(path);
  if (!isNamed && looksLikeJson(bytes)) return { type: 'other', detail: 'JSON is read where it is named' };
  const lines = parseLines(bytes);
  if (typeof lines === 'string') return { type: 'other', detail: lines };
  const file = { path, ...found };
  const sha256 = hash('sha256', bytes);
  const input = { type: 'lines', label, stem: subtitleStem(path), name, lines, sha256, file } as const;
  return { type: 'usable', input };
}

/** Subtitles from stdin are named by what is in them. */
export async function checkStdin({ stdin }: Pick<PlanIo, 'stdin'>): Promise<CheckedInput> {
  const bytes = await buffer(stdin);
  if (bytes.length >= LIMITS.subtitleBytes)
    return { type: 'problem', detail: 'subtitles are under 10 MiB, and there is more on stdin' };
  const lines = parseLines(bytes);
  if (typeof lines === 'string') return { type: 'problem', detail: lines };
  const sha256 = hash('sha256', bytes);
  const named = { label: 'stdin', stem: 'stdin', name: `stdin:${sha256}` };
  return { type: 'usable', input: { type: 'lines', ...named, lines, sha256, file: null } };
}

/** `talk.en.srt` names its results `talk.es.srt`, not `talk.en.es.srt`. */
function subtitleStem(path: string): string {
  const stem = basename(path, extname(path));
  const language = extname(stem).slice(1);
  return /^[a-z]{2,3}(-[A-Za-z0-9]+)*$/.test(language) ? stem.slice(0, -language.length - 1) : stem;
}

function parseLines(bytes: Uint8Array): readonly SubtitleLine[] | string {
  if (looksLikeJson(bytes)) return parseJsonLines(bytes);
  try {
    return decodeSrt(bytes);
  } catch (error) {
    if (error instanceof SubtitleError) return `not usable as SRT, ${error.message}`;
    throw error;
  }
}
