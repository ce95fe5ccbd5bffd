/** Reads a subtitle file of any format into lines. The file is untrusted. */

import { LIMITS } from '../../protocol/limits.ts';
import { normalizeCueText, parseSrt, SubtitleError } from '../../protocol/srt.ts';
import { isLongerThan, type SubtitleFormat, type SubtitleLine } from '../../protocol/subtitle-line.ts';
import { PreparationFailure } from '../failure.ts';
import { assText, onlyEvents } from './ass-text.ts';
import { boundRows, decodeText, MOST_CUES } from './bounds.ts';
import { stripMarkup } from './text.ts';

/** A cue as the libraries return it: times in seconds, and text with or without markup. */
interface RawCue {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The part of media-captions that is used. */
interface MediaCaptions {
  parseText(
    text: string,
    options: { type: 'vtt'; strict: boolean },
  ): Promise<{ cues: readonly { startTime: number; endTime: number; text: string }[] }>;
}

/** File extensions of the formats. */
const FORMAT_OF_NAME = /\.(srt|vtt|webvtt|ass|ssa)$/i;

/**
 * Reads SRT, WebVTT and ASS or SSA. Detects the format by content first, then by name. Returns cues in order of time,
 * numbered from 1. Skips styles, comments, drawings and cues without text. Does not check the service's limit on lines.
 * @throws PreparationFailure SUBTITLE_INVALID
 */
export async function readSubtitleFile(bytes: Uint8Array, name: string): Promise<SubtitleLine[]> {
  if (bytes.length >= LIMITS.subtitleBytes) {
    throw invalid(name, `it has ${bytes.length} bytes, the limit is below ${LIMITS.subtitleBytes}`);
  }
  try {
    const text = decodeText(bytes);
    const format = formatOf(text, name);
    if (format === 'srt') return parseSrt(text, MOST_CUES);
    return toLines(format === 'vtt' ? await readVtt(text) : await readAss(text));
  } catch (error) {
    if (error instanceof SubtitleError) throw invalid(name, error.message, error);
    throw error;
  }
}

/**
 * Returns the format of a text: by its first words, else by its name. @throws SubtitleError if the content contradicts
 * the name
 */
export function formatOf(text: string, name: string): SubtitleFormat {
  const head = text.slice(0, 4096).trimStart();
  if (/^WEBVTT(?:\s|$)/.test(head)) return 'vtt';
  if (/^\[(?:Script Info|V4\+? Styles|Events)\]/im.test(head)) return 'ass';
  const ending = FORMAT_OF_NAME.exec(name)?.[1]?.toLowerCase();
  if (ending === 'vtt' || ending === 'webvtt') throw new SubtitleError('a WebVTT file begins with WEBVTT', 1);
  if (ending === 'ass' || ending === 'ssa') throw new SubtitleError('the file has no [Events] section', 0);
  return 'srt';
}

async function readVtt(text: string): Promise<RawCue[]> {
  // A cast, because the package's declarations lack the file extensions that Node's resolution requires: the compiler
  // finds no exports.
  const { parseText } = (await import('media-captions')) as unknown as MediaCaptions;
  const { cues } = await parseText(boundRows(text), { type: 'vtt', strict: false });
  return cues.map(({ startTime, endTime, text }) => ({
    start: startTime,
    end: endTime,
    text: vttText(text),
  }));
}

/** Returns the text of a WebVTT cue in SRT markup. */
export function vttText(text: string): string {
  return unescapeVtt(stripVoices(text));
}

/** Tags for speakers, classes, languages and times exist only in WebVTT. `<b>`, `<i>` and `<u>` also exist in SRT. */
function stripVoices(text: string): string {
  return text.replace(/<(?!\/?[biu]>)\/?[a-z0-9][^<>]{0,200}>/gi, '');
}

const NAMED: Record<string, string> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&nbsp;': '\u00A0',
  '&lrm;': '\u200E',
  '&rlm;': '\u200F',
};

function unescapeVtt(text: string): string {
  return text.replace(/&(?:amp|lt|gt|nbsp|lrm|rlm);/g, (found) => NAMED[found] ?? found);
}

async function readAss(text: string): Promise<RawCue[]> {
  const { parse } = await import('ass-compiler');
  const { events } = parse(onlyEvents(boundRows(text)));
  return events.dialogue.map(({ Start, End, Text }) => ({
    start: Start,
    end: End,
    // A custom Format row may omit the text column.
    text: assText(Text?.combined ?? ''),
  }));
}

function toLines(cues: readonly RawCue[]): SubtitleLine[] {
  if (cues.length > MOST_CUES) throw new SubtitleError(`more than ${MOST_CUES} subtitle lines`, 0);
  const lines = cues
    .map(({ start, end, text }) => ({
      start_ms: Math.round(start * 1000),
      end_ms: Math.round(end * 1000),
      text: normalizeCueText(text),
    }))
    .filter(({ text, start_ms, end_ms }) => stripMarkup(text) !== '' && start_ms >= 0 && end_ms > start_ms)
    .sort((left, right) => left.start_ms - right.start_ms)
    .map((line, position) => ({ index: position + 1, ...line }));
  if (lines.length === 0) throw new SubtitleError('the file has no subtitles', 0);
  for (const { index, text, end_ms } of lines) {
    if (isLongerThan(LIMITS.lineCharacters, text))
      throw new SubtitleError(`cue ${index} has more than ${LIMITS.lineCharacters} characters`, 0);
    if (end_ms > LIMITS.lineEndMs) throw new SubtitleError(`cue ${index} ends after 1000 hours`, 0);
  }
  return lines;
}

function invalid(name: string, message: string, cause?: Error): PreparationFailure {
  const advice = 'fix it in a subtitle editor; formats are SRT, WebVTT and ASS in UTF-8';
  return new PreparationFailure('SUBTITLE_INVALID', `${name}: ${message}`, advice, { cause });
}
