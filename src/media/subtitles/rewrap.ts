/** Moves the line breaks of a text as it is written in a file: words, tags and their order stay. Pure. */
import type { SubtitleFormat } from '../../protocol/subtitle-line.ts';
import type { SubtitleLimits } from './style.ts';
import { joinSpaced, SPACELESS } from './text.ts';
import { ROW_COLUMNS, wrapText } from './wrap.ts';

/** A piece of a written text. `shown` is what a viewer sees of it. */
interface Token {
  readonly type: 'tag' | 'break' | 'space' | 'letter';
  readonly written: string;
  readonly shown: string;
}

/** Tags of players, override tags of ASS, which players accept in SRT, and everything else one character at a time. */
const TOKENS: Record<SubtitleFormat, RegExp> = {
  srt: /<\/?[a-z][^<>]{0,200}>|\{\\[^{}]{0,200}\}|\s|./gisu,
  vtt: /<\/?[a-z0-9][^<>]{0,200}>|\{\\[^{}]{0,200}\}|&(?:amp|lt|gt|nbsp|lrm|rlm);|\s|./gisu,
  ass: /\{[^{}\n]*\}|\\N|\\h|\s|./gisu,
};
/** A shape, which has no rows. */
const DRAWING = /\\p[1-9]/;

/** Stands for a space that does not break; of one column, as any letter. */
const NO_BREAK = '\uE000';

/** Returns the text with rows of the length and number of the limits, as far as possible; unchanged if it has shapes. */
export function rewrapText(written: string, format: SubtitleFormat, limits: SubtitleLimits): string {
  if (format === 'ass' && DRAWING.test(written)) return written;
  const { charactersPerRow, isWide } = limits;
  const columns = charactersPerRow === null ? ROW_COLUMNS : charactersPerRow * (isWide ? 2 : 1);
  const tokens = (written.match(TOKENS[format]) ?? []).map((piece) => readToken(piece, format));
  const lineBreak = format === 'ass' ? '\\N' : '\n';
  return splitSpeakers(tokens)
    .map((part) => writePart(part, columns, lineBreak))
    .join(lineBreak);
}

function readToken(written: string, format: SubtitleFormat): Token {
  const token = (type: Token['type'], shown: string) => ({ type, written, shown });
  if (written === '\n' || /^\\n$/i.test(written)) return token('break', '');
  if (/^(?:\\h|&nbsp;|[\u00A0\u2007\u202F])$/i.test(written)) return token('letter', NO_BREAK);
  if (/^\s$/.test(written)) return token('space', ' ');
  if (written.length > 1 && /^[<{]/.test(written)) return token('tag', '');
  if (format === 'vtt' && written.length > 1 && written.startsWith('&')) return token('letter', '&');
  return token('letter', written);
}

/** A row that begins with a dash or a note is another speaker, or a song: it keeps its row. */
export const SPEAKER = /^[-–—‐♩♪♫♬]/u;

/** Splits at the line breaks before such rows. */
function splitSpeakers(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [];
  let part: Token[] = [];
  let next = '';
  for (const token of tokens.toReversed()) {
    if (token.type === 'break' && SPEAKER.test(next)) {
      parts.push(part.reverse());
      part = [];
    } else part.push(token);
    if (token.type !== 'tag' && token.type !== 'space') next = token.shown;
  }
  return [...parts, part.reverse()].reverse();
}

function writePart(tokens: readonly Token[], columns: number, lineBreak: string): string {
  const breaks = findBreaks(tokens, columns);
  const written: string[] = [];
  let between: Token[] = [];
  let letters = 0;
  let last = '';
  for (const token of tokens) {
    if (token.type !== 'letter') {
      between.push(token);
      continue;
    }
    const end = breaks.has(letters) ? lineBreak : null;
    written.push(
      last === '' ? asWritten(between) : writeBetween(between, end, isSpaceless(last, token.shown)),
    );
    written.push(token.written);
    letters += token.shown.length;
    last = token.shown;
    between = [];
  }
  return written.join('') + asWritten(between);
}

/** After how many letters a row ends. */
function findBreaks(tokens: readonly Token[], columns: number): ReadonlySet<number> {
  const shown = tokens.map(({ type, shown }) => (type === 'break' ? '\n' : shown)).join('');
  const whole = joinSpaced(shown.split('\n').map((row) => row.trim()));
  const ends = new Set<number>();
  let letters = 0;
  for (const row of wrapText(whole, 'keep', columns).split('\n').slice(0, -1)) {
    letters += row.replace(/\s/g, '').length;
    ends.add(letters);
  }
  return ends;
}

function isSpaceless(left: string, right: string): boolean {
  return SPACELESS.test(left) && SPACELESS.test(right);
}

const asWritten = (tokens: readonly Token[]) => tokens.map(({ written }) => written).join('');

/**
 * Writes what is between two letters: tags and spaces, one of which becomes the line break.
 * @param lineBreak null for none
 */
function writeBetween(tokens: readonly Token[], lineBreak: string | null, isUnspaced: boolean): string {
  const spaces = tokens.filter(({ type }) => type === 'space' || type === 'break');
  const first = spaces.find(({ type }) => type === 'break') ?? spaces[0];
  if (lineBreak === null) {
    const needsSpace = !isUnspaced && spaces.every(({ type }) => type === 'break');
    const replaceBreak = (token: Token) => (token === first && needsSpace ? ' ' : '');
    return tokens.map((token) => (token.type === 'break' ? replaceBreak(token) : token.written)).join('');
  }
  if (first !== undefined)
    return tokens
      .map((token) => (token === first ? lineBreak : token.type === 'tag' ? token.written : ''))
      .join('');
  const opening = tokens.findIndex(({ written }) => !written.startsWith('</'));
  const at = opening < 0 ? tokens.length : opening;
  return asWritten(tokens.slice(0, at)) + lineBreak + asWritten(tokens.slice(at));
}
