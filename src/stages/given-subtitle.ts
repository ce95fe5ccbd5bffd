/** Subtitles that people have edited or brought along, read and checked. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import type { PlanIo } from '../batch/plan/batch-plan.ts';
import type { Comparison, SubtitleProblem } from '../prepare/index.ts';
import { SUBTITLE_FORMATS, type SubtitleLine } from '../protocol/subtitle-line.ts';
import type { StageSubtitle } from './stage-plan.ts';

/** What to report about a file. */
export interface SubtitleReport {
  /** For people. */
  readonly label: string;
  readonly findings: readonly SubtitleProblem[];
  /** Against what was left there; null for a file that somebody brought along. */
  readonly changes: Comparison | null;
}

interface ReadSubtitle {
  /** Null for one that cannot be used; the report or the problem says why. */
  readonly subtitle: StageSubtitle | null;
  /** Why the service would not take lines that are well in themselves; null without. */
  readonly problem: string | null;
  readonly report: SubtitleReport;
}

/** The name of a file as people in the working directory write it. */
export function labelOf(path: string, cwd: string): string {
  const label = relative(cwd, path);
  return label.startsWith('..') ? path : label;
}

/** How lines are held against what the service takes. */
export type LinesExaminer = PlanIo['examineLines'];

/** For lines that are not sent: there may be as many as people like. */
export const NOT_SENT: LinesExaminer = async () => ({ type: 'usable', parts: null });

/** What a file is used for. */
export interface SubtitleUse {
  /** BCP 47 tag; null where nobody has told. */
  readonly language: string | null;
  /** Lines that were left in the file for people to edit; null for a file of their own. */
  readonly before: readonly SubtitleLine[] | null;
  /** Length of the video; null where nothing here can measure it. */
  readonly seconds: number | null;
  readonly examineLines: LinesExaminer;
}

/**
 * @param path absolute
 * @returns null when there is no such file, or it cannot be read
 */
export async function readGiven(
  path: string,
  { language, before, seconds, examineLines }: SubtitleUse,
  cwd: string,
): Promise<ReadSubtitle | null> {
  const bytes = await readFile(path).catch(() => null);
  if (bytes === null) return null;
  const { inspectSubtitle } = await import('../prepare/subtitles/inspect.ts');
  const label = labelOf(path, cwd);
  const { lines, findings } = await inspectSubtitle(
    bytes,
    path,
    seconds === null ? null : Math.round(seconds * 1000),
  );
  if (lines === null || findings.some(({ severity }) => severity === 'error')) {
    return { subtitle: null, problem: null, report: { label, findings, changes: null } };
  }
  const examined = await examineLines(lines);
  const report = { label, findings, changes: before === null ? null : await compare(before, lines, path) };
  if (examined.type === 'problem') return { subtitle: null, problem: examined.detail, report };
  const { parts } = examined;
  return { subtitle: { label, path, language, lines, parts }, problem: null, report };
}

/** What the format of the file does not keep is nobody's change. */
async function compare(
  before: readonly SubtitleLine[],
  lines: readonly SubtitleLine[],
  path: string,
): Promise<Comparison> {
  const { compareSubtitles } = await import('../prepare/subtitles/compare.ts');
  return compareSubtitles(await linesInFile(before, path), lines);
}

/** The lines as a file of that name keeps them. */
export async function linesInFile(
  lines: readonly SubtitleLine[],
  path: string,
): Promise<readonly SubtitleLine[]> {
  const { readBack } = await import('../prepare/subtitles/kept-lines.ts');
  return readBack(lines, SUBTITLE_FORMATS.find((each) => path.endsWith(`.${each}`)) ?? 'srt');
}

/** SHA-256 of the file, lower-case hex; null when there is none. */
export async function digestFile(path: string): Promise<string | null> {
  const bytes = await readFile(path).catch(() => null);
  return bytes === null ? null : hash('sha256', bytes);
}

/** The lines of a subtitle that a stage has fetched; null where it is not there any more. */
export async function readStageLines(path: string): Promise<readonly SubtitleLine[] | null> {
  const bytes = await readFile(path).catch(() => null);
  if (bytes === null) return null;
  const { readSubtitleFile } = await import('../prepare/subtitles/read.ts');
  return readSubtitleFile(bytes, path);
}
