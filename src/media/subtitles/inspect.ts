/** Inspects a subtitle file that a user edited: its lines and all its problems. */
import { SubtitleError } from '../../protocol/srt.ts';
import type { SubtitleFormat, SubtitleLine } from '../../protocol/subtitle-line.ts';
import { PreparationFailure } from '../failure.ts';
import { decodeText } from './bounds.ts';
import { checkSubtitle, type SubtitleProblem } from './check.ts';
import { formatOf, readSubtitleFile } from './read.ts';
import { type ScannedCue, scanSrt, scanVtt } from './scan.ts';
import { scanAss } from './scan-ass.ts';

export interface InspectedSubtitle {
  /** In order of time; null if the file cannot be read. In that case `findings` contains an error. */
  readonly lines: readonly SubtitleLine[] | null;
  readonly findings: readonly SubtitleProblem[];
}

const SCANNERS: Record<SubtitleFormat, (text: string) => ScannedCue[]> = {
  srt: scanSrt,
  vtt: scanVtt,
  ass: scanAss,
};

/**
 * Reads and checks SRT, WebVTT or ASS. Never throws for faults of the file.
 * @param videoMs length of the video; null if unknown
 */
export async function inspectSubtitle(
  bytes: Uint8Array,
  name: string,
  videoMs: number | null = null,
): Promise<InspectedSubtitle> {
  const findings = findFlaws(bytes, name, videoMs);
  try {
    const lines = await readSubtitleFile(bytes, name);
    return { lines: inOrder(lines), findings };
  } catch (error) {
    if (!(error instanceof PreparationFailure)) throw error;
    const isReported = findings.some(({ severity }) => severity === 'error');
    return { lines: null, findings: isReported ? findings : [...findings, unreadable(error)] };
  }
}

function findFlaws(bytes: Uint8Array, name: string, videoMs: number | null): readonly SubtitleProblem[] {
  try {
    const text = decodeText(bytes);
    const cues = SCANNERS[formatOf(text, name)](text);
    // For a file without any times, the reader's own message is clearer.
    return cues.length === 0 ? [] : checkSubtitle(cues, videoMs);
  } catch (error) {
    if (error instanceof SubtitleError) return [];
    throw error;
  }
}

/** The reader's message contains the row if it is known. */
function unreadable({ message, advice, cause }: PreparationFailure): SubtitleProblem {
  const row = cause instanceof SubtitleError && cause.line > 0 ? cause.line : null;
  const why = cause instanceof SubtitleError ? cause.message.replace(/^line \d+: /, '') : message;
  return { code: 'UNREADABLE', severity: 'error', row, cue: 0, time: '00:00:00,000', message: why, advice };
}

/** Editors keep cues in the order in which they were typed. Voices and players go by the times. */
function inOrder(lines: readonly SubtitleLine[]): readonly SubtitleLine[] {
  return lines
    .toSorted((left, right) => left.start_ms - right.start_ms)
    .map((line, position) => ({ ...line, index: position + 1 }));
}
