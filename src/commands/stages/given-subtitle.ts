/** Subtitles that users provide or edit: read, checked, and reported. */

import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { relative } from 'node:path';
import { readResultLines } from '../../batch/deliver/result-lines.ts';
import type { InputProblem } from '../../batch/input.ts';
import { describeBilingual } from '../../batch/inputs/bilingual-name.ts';
import type { PlanIo } from '../../batch/inputs/plan-request.ts';
import type { Comparison, SubtitleProblem } from '../../media/index.ts';
import { inspectSubtitle } from '../../media/subtitles/check.ts';
import { compareSubtitles, describeChange, readBack } from '../../media/subtitles/compare.ts';
import {
  nameRow,
  SUBTITLE_FORMATS,
  type SubtitleLine,
  withoutSpeakers,
} from '../../protocol/subtitle-line.ts';
import type { Terminal } from '../context/context.ts';
import type { StageSubtitle } from './stage-plan.ts';

/** Problems and changes to report about a subtitle file. */
export interface SubtitleReport {
  /** The name of the file in messages. */
  readonly label: string;
  readonly findings: readonly SubtitleProblem[];
  /** The user's edits of a file that vloc wrote; null for a file of the user. */
  readonly changes: Comparison | null;
}

interface ReadSubtitle {
  /** Null if the file cannot be used; `report` or `problem` says why. */
  readonly subtitle: StageSubtitle | null;
  /** Why the service would refuse valid lines; null if it accepts them. */
  readonly problem: string | null;
  readonly report: SubtitleReport;
}

/** The name of a file in messages: relative to the working directory, unless it is outside. */
export function labelOf(path: string, cwd: string): string {
  const label = relative(cwd, path);
  return label.startsWith('..') ? path : label;
}

/** Checks lines against the limits of the service. */
export type LinesExaminer = PlanIo['examineLines'];

/** For lines that are not sent: no limit applies. */
export const NOT_SENT: LinesExaminer = async () => ({ type: 'usable', parts: null });

/** How a subtitle file is used. */
export interface SubtitleUse {
  /** BCP 47 tag; null if unknown. */
  readonly language: string | null;
  /** The lines that vloc wrote into the file; null for a file of the user. */
  readonly before: readonly SubtitleLine[] | null;
  /** Length of the video; null if it cannot be measured. */
  readonly seconds: number | null;
  /** Later cues are left out; missing or null for none. */
  readonly sampleSeconds?: number | null;
  readonly examineLines: LinesExaminer;
}

/**
 * Reads and checks a subtitle file.
 * @param path absolute
 * @returns null if the file does not exist or cannot be read
 */
export async function readGiven(
  path: string,
  { language, before, seconds, sampleSeconds = null, examineLines }: SubtitleUse,
  cwd: string,
): Promise<ReadSubtitle | null> {
  const bytes = await readFile(path).catch(() => null);
  if (bytes === null) return null;
  const label = labelOf(path, cwd);
  const bilingual = describeBilingual(path);
  if (bilingual !== null)
    return { subtitle: null, problem: bilingual, report: { label, findings: [], changes: null } };
  const { lines: spoken, findings } = inspectSubtitle(
    bytes,
    path,
    seconds === null ? null : Math.round(seconds * 1000),
    language,
  );
  if (spoken === null || findings.some(({ severity }) => severity === 'error')) {
    return { subtitle: null, problem: null, report: { label, findings, changes: null } };
  }
  const isUsed = ({ start_ms: start }: SubtitleLine) =>
    sampleSeconds === null || start < sampleSeconds * 1000;
  const { lines: used, speakers } = withoutSpeakers(spoken.filter(isUsed));
  const examined = await examineLines(used, speakers);
  const report = { label, findings, changes: before === null ? null : compare(before, spoken, path) };
  if (examined.type === 'problem') return { subtitle: null, problem: examined.detail, report };
  if (used.length === 0) return { subtitle: null, problem: 'no cue begins within the sample', report };
  const { parts, voices } = examined;
  const subtitle = { label, path, language, lines: used, speakers, parts, voices };
  return { subtitle, problem: null, report };
}

/** Compares with the lines as the format of the file keeps them: what the format loses is not an edit. */
function compare(before: readonly SubtitleLine[], lines: readonly SubtitleLine[], path: string): Comparison {
  return compareSubtitles(linesInFile(before, path), lines);
}

/** The lines as the format of the file keeps them. @param path whose extension names the format */
export function linesInFile(lines: readonly SubtitleLine[], path: string): readonly SubtitleLine[] {
  return readBack(lines, SUBTITLE_FORMATS.find((each) => path.endsWith(`.${each}`)) ?? 'srt');
}

/** SHA-256 of the file, lower-case hex; null if it cannot be read. */
export async function digestFile(path: string): Promise<string | null> {
  const bytes = await readFile(path).catch(() => null);
  return bytes === null ? null : hash('sha256', bytes);
}

/** The lines of a subtitle file that a stage downloaded; null if it no longer exists. */
export async function readStageLines(path: string): Promise<readonly SubtitleLine[] | null> {
  const found = await stat(path).catch(() => null);
  return found === null ? null : readResultLines(path);
}

/** Changes and warnings shown per file; the rest is counted, so that one bad file does not hide the next. */
const MOST_SHOWN = 20;

/** Prints the user's edits and the warnings about each file. */
export function printReports(reports: readonly SubtitleReport[], { note }: Pick<Terminal, 'note'>): void {
  for (const report of reports) {
    printChanges(report, note);
    const { label, findings } = report;
    const warnings = findings.filter(({ severity }) => severity === 'warning');
    for (const finding of warnings.slice(0, MOST_SHOWN))
      note(`${nameRow(label, finding.row)}: ${describe(finding)}`);
    if (warnings.length > MOST_SHOWN) note(`${label}: and ${warnings.length - MOST_SHOWN} more warnings`);
  }
}

/** The errors that make a subtitle file unusable. */
export function problemsOf({ label, findings }: SubtitleReport): readonly InputProblem[] {
  const errors = findings.filter(({ severity }) => severity === 'error');
  return errors.map((finding) => ({ pointer: nameRow(label, finding.row), detail: describe(finding) }));
}

function describe({ time, cue, message, advice }: SubtitleProblem): string {
  const what = cue === 0 ? '' : `${time} cue ${cue}: `;
  return `${what}${message}; ${advice}`;
}

function printChanges({ label, changes }: SubtitleReport, note: Terminal['note']): void {
  if (changes === null) return;
  const count = changes.changes.length;
  const cues = count === 1 ? '1 cue' : `${count} cues`;
  note(`${label}: ${cues} changed, ${changes.same} unchanged`);
  for (const change of changes.changes.slice(0, MOST_SHOWN)) {
    for (const row of describeChange(change)) note(`  ${row}`);
  }
  if (count > MOST_SHOWN) note(`  and ${count - MOST_SHOWN} more`);
}
