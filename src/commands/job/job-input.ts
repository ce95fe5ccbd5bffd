/** What an operand of a job command means, and the checks that need no service. */
import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { basename, extname, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { LIMITS, VIDEO_EXTENSIONS } from '../../protocol/limits.ts';
import { isLoopback } from '../../protocol/loopback.ts';
import { decodeSrt, SubtitleError } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { formatBytes } from '../format.ts';
import type { Io } from '../io.ts';
import { namesJobWithLines, stemOfJob } from './job-reference.ts';
import { looksLikeJson, parseJsonLines } from './json-lines.ts';

/** An input that passed its checks; `stem` names its results. */
export type JobInput =
  | {
      readonly type: 'file';
      readonly label: string;
      readonly stem: string;
      readonly path: string;
      readonly bytes: number;
    }
  | { readonly type: 'url'; readonly label: string; readonly stem: string; readonly url: string }
  | { readonly type: 'upload'; readonly label: string; readonly stem: string; readonly id: string }
  /** A job whose result has lines: bare, kind/id or detail_url. */
  | { readonly type: 'job'; readonly label: string; readonly stem: string; readonly reference: string }
  | {
      readonly type: 'lines';
      readonly label: string;
      readonly stem: string;
      readonly lines: readonly SubtitleLine[];
    };

/** An operand that cannot be used: why, with the mend in the same sentence. */
export interface InputProblem {
  readonly pointer: string;
  readonly detail: string;
}

export type CheckedInput = { ok: true; input: JobInput } | { ok: false; problem: InputProblem };

/** Reads one operand of a command that works on videos or on subtitles; never throws for what the operand is to blame for. */
export async function checkInput(
  operand: string,
  takes: 'video' | 'subtitle',
  io: Io,
): Promise<CheckedInput> {
  const refuse = (detail: string): CheckedInput => ({ ok: false, problem: { pointer: operand, detail } });
  if (/^https?:\/\//i.test(operand)) return checkUrl(operand, refuse);
  if (/^upl_[a-z0-9]+$/i.test(operand))
    return { ok: true, input: { type: 'upload', label: operand, stem: operand, id: operand } };
  if (takes === 'subtitle' && namesJobWithLines(operand))
    return { ok: true, input: { type: 'job', label: operand, stem: stemOfJob(operand), reference: operand } };
  if (takes === 'subtitle') return readSubtitle(operand, io, refuse);
  if (operand === '-')
    return refuse('a video cannot be read from stdin; give a file, an https address or an upload id');
  return checkVideo(operand, io, refuse);
}

type Refuse = (detail: string) => CheckedInput;

function checkUrl(operand: string, refuse: Refuse): CheckedInput {
  if (!URL.canParse(operand)) return refuse('this is not an address');
  const url = new URL(operand);
  // Whether http to its own machine is allowed, only the service knows.
  if (url.protocol === 'http:' && !isLoopback(url)) return refuse('the service reads https addresses only');
  if (url.username !== '' || url.password !== '')
    return refuse('the address holds a password; the service reads public addresses only');
  const last = decodeURIComponent(url.pathname.split('/').at(-1) ?? '');
  const stem = basename(last, extname(last)) || url.hostname;
  return { ok: true, input: { type: 'url', label: operand, stem, url: operand } };
}

async function checkVideo(operand: string, io: Io, refuse: Refuse): Promise<CheckedInput> {
  const path = resolve(io.cwd, operand);
  const found = await statReadable(path);
  if (typeof found === 'string') return refuse(found);
  if (found.bytes === 0) return refuse('the file is empty');
  if (found.bytes >= LIMITS.videoBytes) {
    return refuse(
      `${formatBytes(found.bytes)} is over the limit; a video is under 1 GiB: make it smaller or cut it`,
    );
  }
  const extension = extname(path).toLowerCase();
  if (!VIDEO_EXTENSIONS.some((known) => known === extension)) {
    const known = VIDEO_EXTENSIONS.map((each) => each.slice(1).toUpperCase()).join(', ');
    return refuse(`the service takes ${known}; \`ffmpeg -i IN -c copy OUT.mp4\` often converts without loss`);
  }
  return {
    ok: true,
    input: { type: 'file', label: operand, stem: basename(path, extname(path)), path, bytes: found.bytes },
  };
}

/** The size of a file that can be read, or why it cannot. */
export async function statReadable(path: string): Promise<{ bytes: number } | string> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return 'this is a folder; give the files in it, for example with *.mp4';
    if (!found.isFile()) return 'this is not a regular file';
    await access(path, constants.R_OK);
    return { bytes: found.size };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'there is no such file; check the path';
    if (code === 'EACCES') return 'it may not be read; check its permissions';
    throw error;
  }
}

async function readSubtitle(operand: string, io: Io, refuse: Refuse): Promise<CheckedInput> {
  const fromStdin = operand === '-';
  if (!fromStdin) {
    const found = await statReadable(resolve(io.cwd, operand));
    if (typeof found === 'string') return refuse(found);
    if (found.bytes >= LIMITS.subtitleBytes)
      return refuse(`${formatBytes(found.bytes)} is over the limit; subtitles are under 10 MiB`);
  }
  const bytes = fromStdin ? await buffer(io.stdin) : await readFile(resolve(io.cwd, operand));
  const parsed = parseLines(bytes);
  if (typeof parsed === 'string') return refuse(parsed);
  const stem = fromStdin ? 'stdin' : subtitleStem(operand);
  return { ok: true, input: { type: 'lines', label: fromStdin ? 'stdin' : operand, stem, lines: parsed } };
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
