/** Parts that the `subtitles` commands share: their files, the style, the video, and how findings are printed. */

import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { EXIT_CODES } from '../../base/exit-codes.ts';
import { configurationFailure, type Failure, usageFailure } from '../../base/failure.ts';
import { flagOption, type OptionValues, textOption } from '../../base/option.ts';
import { type foundFile, namedFile } from '../../batch/inputs/candidate.ts';
import { subtitleLanguage } from '../../batch/inputs/check-subtitle.ts';
import { findFiles } from '../../batch/inputs/collect.ts';
import { describeSystemFolders } from '../../batch/inputs/system-folders.ts';
import { showInvisible } from '../../batch/report/text-reports.ts';
import { readFacts } from '../../media/probe/facts.ts';
import { findShots } from '../../media/probe/shots.ts';
import { PreparationFailure, ProgramMissing } from '../../media/programs/failures.ts';
import { createPrograms } from '../../media/programs/programs.ts';
import type { SubtitleProblem, SubtitleStandard } from '../../media/subtitles/check.ts';
import {
  builtInStyle,
  chooseLimits,
  parseStyle,
  STYLE_NAMES,
  type Style,
} from '../../media/subtitles/style.ts';
import { canonicalLanguage, isKnownLanguage } from '../../protocol/language-tag.ts';
import { nameRow } from '../../protocol/subtitle-line.ts';
import { invalidCallFailure, type Operands } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { asSentence } from '../context/format.ts';
import { NullableNumber } from '../context/output-schemas.ts';

export const FINDING = v.object({
  file: v.string(),
  row: NullableNumber,
  cue: v.number(),
  time: v.string(),
  rule: v.string(),
  severity: v.picklist(['error', 'warning']),
  message: v.string(),
  advice: v.string(),
});

export const SUBTITLE_OPERANDS: Operands = {
  name: 'path',
  count: 'many',
  help: 'SRT, WebVTT or ASS files, or folders of them',
};

export const SUBTITLE_OPTIONS = {
  style: textOption(
    'name',
    'netflix (default), netflix-children, netflix-sdh, bbc, ebu, or a JSON file of your own',
  ),
  language: textOption(
    'tag',
    'language of the text (default: that in the name, such as talk.es.srt, else by the script)',
  ),
  video: textOption('file', 'the video: also checks its shot changes and its end'),
  strict: flagOption('exit with 2 for warnings too'),
};
type SubtitleOptions = OptionValues<typeof SUBTITLE_OPTIONS>;

export interface SubtitleFile {
  /** Absolute. */
  readonly path: string;
  /** The name in messages. */
  readonly label: string;
  /** Below its folder, `/` between folders. */
  readonly name: string;
  /** BCP 47 tag; null if unknown. */
  readonly language: string | null;
  readonly bytes: Uint8Array;
}

const IS_SUBTITLE = /\.(?:srt|vtt|webvtt|ass|ssa)$/i;

/**
 * Reads all files that the operands name or contain, each once.
 * @throws Failure (`usage`) for one that cannot be read, and for a folder without subtitles
 */
export async function readSubtitles(
  operands: readonly string[],
  { language }: Partial<Pick<SubtitleOptions, 'language'>>,
  { io, terminal }: Pick<Context, 'io' | 'terminal'>,
): Promise<readonly SubtitleFile[]> {
  const given = language === undefined ? null : canonicalLanguage(language);
  if (language !== undefined && given === null)
    throw invalidCallFailure(`invalid --language "${language}"`, 'Write a BCP 47 tag, such as es or pt-BR.');
  const system: string[] = [];
  const found = await Promise.all(
    operands.map((operand) => findSubtitles(operand, io.cwd, { warn: terminal.warn, system })),
  );
  for (const note of describeSystemFolders(system)) terminal.note(note);
  const files = new Map(found.flat().map((file) => [file.path, file]));
  return Promise.all(
    [...files.values()].map(async ({ path, label, name }) => {
      const bytes = await readFile(path).catch((error: unknown) => {
        throw unreadableFailure(label, error);
      });
      return { path, label, name, language: given ?? languageInName(path), bytes };
    }),
  );
}

interface FoundFile {
  readonly path: string;
  readonly label: string;
  readonly name: string;
}

async function findSubtitles(
  operand: string,
  cwd: string,
  { warn, system }: { readonly warn: (text: string) => void; readonly system: string[] },
): Promise<readonly FoundFile[]> {
  const root = resolve(cwd, operand);
  const status = await stat(root).catch((error: unknown) => {
    throw unreadableFailure(operand, error);
  });
  if (!status.isDirectory()) return [withPath(namedFile(operand, cwd))];
  const found = await findFiles({ root, pattern: [], include: [], exclude: [], cwd });
  const { files, unreadable } = found;
  system.push(...found.system);
  for (const folder of unreadable) warn(`Skipped ${folder}: it cannot be read.`);
  const subtitles = files.map(withPath).filter(({ path }) => IS_SUBTITLE.test(path));
  if (subtitles.length > 0) return subtitles;
  throw usageFailure('NO_SUBTITLES', `no subtitles in ${operand}`, 'Check the path.');
}

/** Files that are found have a path. */
function withPath({ path, label, name }: ReturnType<typeof foundFile>): FoundFile {
  return { path: path ?? label, label, name };
}

export function unreadableFailure(label: string, error: unknown): Failure {
  const why =
    error instanceof Error && 'code' in error && error.code === 'ENOENT'
      ? 'it does not exist'
      : String(error);
  return usageFailure('UNREADABLE', `cannot read ${label}: ${why}`, 'Check the path and its permissions.');
}

/** What a subtitle is for, in its name after its language: `.sdh` in `talk.en.sdh.srt`. */
export const USE = /\.(?:sdh|cc|forced)(?=\.[^./]*$)/i;

function languageInName(path: string): string | null {
  const tag = subtitleLanguage(path.replace(USE, ''));
  return tag === null ? null : knownLanguage(tag);
}

/** In canonical case; null if there is none with this tag. */
export function knownLanguage(tag: string): string | null {
  return isKnownLanguage(tag) ? canonicalLanguage(tag) : null;
}

/** Reads the cues of a file. @throws Failure (`usage`, SUBTITLE_INVALID) if it cannot be read */
export function readWhole<T>(
  { bytes, label }: SubtitleFile,
  read: (bytes: Uint8Array, name: string) => T,
): T {
  try {
    return read(bytes, label);
  } catch (error) {
    if (!(error instanceof PreparationFailure)) throw error;
    throw usageFailure(error.code, error.message, asSentence(error.advice), {}, { cause: error });
  }
}

/** The rules for the text of a file in a language. */
export type StandardOf = (file: Pick<SubtitleFile, 'language'>) => (text: string) => SubtitleStandard;

/** Reads the style and the video. @throws Failure (`usage`, `configuration`) */
export async function openStandard(
  { style = 'netflix', video }: Pick<SubtitleOptions, 'style' | 'video'>,
  context: Context,
): Promise<StandardOf> {
  const rules = await readStyle(style, context);
  const facts = video === undefined ? null : await measureVideo(video, rules, context);
  const { videoMs = null, shotsMs = [], framesPerSecond = null } = facts ?? {};
  return ({ language }) =>
    (text) => ({
      limits: chooseLimits(rules, language, text, framesPerSecond),
      videoMs,
      shotsMs,
      isSpoken: false,
    });
}

async function readStyle(given: string, { io }: Pick<Context, 'io'>): Promise<Style> {
  const name = STYLE_NAMES.find((each) => each === given);
  if (name !== undefined) return builtInStyle(name);
  const text = await readFile(resolve(io.cwd, given), 'utf8').catch(() => {
    throw invalidCallFailure(
      `there is no style and no file "${given}"`,
      `Built-in styles: ${STYLE_NAMES.join(', ')}.`,
    );
  });
  const style = parseStyle(text);
  if (typeof style !== 'string') return style;
  const message = `the style ${given} cannot be used: ${style}`;
  throw usageFailure('STYLE_INVALID', message, 'See docs/subtitle-style.schema.json.');
}

interface VideoTimes {
  readonly videoMs: number | null;
  readonly shotsMs: readonly number[];
  readonly framesPerSecond: number | null;
}

async function measureVideo(video: string, style: Style, context: Context): Promise<VideoTimes> {
  const { io, signal, terminal } = context;
  const path = resolve(io.cwd, video);
  const programs = createPrograms(io.env.PATH ?? '');
  const folder = await mkdtemp(join(tmpdir(), 'vloc-shots-'));
  const run = { signal, folder };
  try {
    await stat(path);
    const { durationSeconds: seconds, picture } = await readFacts(programs, path, run);
    const isAsked = style.shot_change_frames !== undefined;
    if (!isAsked) terminal.note('The style has no number for shot changes, so they are not checked.');
    const shotsMs = isAsked && picture !== null ? await findShots(programs, path, run) : [];
    const rate = picture?.frameRate ?? null;
    const framesPerSecond = rate === null ? null : rate.num / rate.den;
    return { videoMs: seconds === null ? null : Math.round(seconds * 1000), shotsMs, framesPerSecond };
  } catch (error) {
    signal.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    const isMissing =
      error instanceof ProgramMissing ||
      (error instanceof PreparationFailure && error.code === 'PROGRAM_MISSING');
    if (isMissing)
      throw configurationFailure(
        'ENGINE_MISSING',
        `--video needs ffmpeg: ${why}`,
        'Install it with: vloc engines install',
      );
    throw usageFailure(
      'MEDIA_UNSUPPORTED',
      `cannot use the video ${video}: ${why}`,
      'Check the file.',
      {},
      { cause: error },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A finding as commands print it. */
export interface FindingRow {
  readonly file: string;
  readonly row: number | null;
  readonly cue: number;
  readonly time: string;
  readonly rule: SubtitleProblem['code'];
  readonly severity: SubtitleProblem['severity'];
  readonly message: string;
  readonly advice: string;
}

export function toRow(file: string, { code: rule, ...finding }: SubtitleProblem): FindingRow {
  const { row, cue, time, severity, message, advice } = finding;
  return { file, row, cue, time, rule, severity, message, advice };
}

/** `talk.es.srt:12: 00:01:02,500 TOO_FAST reading speed is …; shorten …`, the form that editors open. */
export function describeFinding({ file, row, time, rule, message, advice }: FindingRow): string {
  return showInvisible(`${nameRow(file, row)}: ${time} ${rule} ${message}; ${advice}`);
}

/** `2 errors, 1 warning` */
export function countFindings(rows: readonly Pick<FindingRow, 'severity'>[]): string {
  const errors = rows.filter(({ severity }) => severity === 'error').length;
  const warnings = rows.length - errors;
  return `${countNoun(errors, 'error')}, ${countNoun(warnings, 'warning')}`;
}

export function countNoun(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** 2 if a check failed. */
export function exitCodeFor(rows: readonly Pick<FindingRow, 'severity'>[], strict: boolean): number {
  const hasFailed = rows.some(({ severity }) => severity === 'error' || strict);
  return hasFailed ? EXIT_CODES.usage.code : EXIT_CODES.done.code;
}
