/** Reads and writes segments of TMX 1.4: text without the codes of other formats, and with the formatting that cues can hold. Pure. */
import { findPairs, type Tag } from '../../media/subtitles/tags.ts';
import { OVERRIDE, PLAYER_TAG } from '../../media/subtitles/text.ts';

/** The type of a placeholder between the texts of a sentence that spans cues. */
const NEXT_CUE = 'x-vloc-cue';
/** The type of a tag of a cue that is not formatting with a type of its own. */
const CUE_CODE = 'x-vloc-tag';

/** The text of a cue. */
interface SegmentCue {
  /** With formatting as tags, in pairs. */
  readonly text: string;
  readonly plain: string;
}

/** Receives the elements inside `<seg>` in order. */
export interface Segment {
  open(name: string, attribute: (name: string) => string): void;
  addText(text: string): void;
  close(): void;
  cues(): SegmentCue[];
}

interface FormatTag extends Tag {
  /** Empty for a code that is no formatting of cues, and for an end. */
  readonly written: string;
}

/** Text, a tag, or null for the next cue. */
type Piece = string | FormatTag | null;

interface Code {
  readonly name: string;
  readonly attribute: (name: string) => string;
  readonly level: number;
  text: string;
}

/** What they contain belongs to another format. */
const CODES: ReadonlySet<string> = new Set(['bpt', 'ept', 'it', 'ph', 'ut']);

export function createSegment(): Segment {
  const pieces: Piece[] = [];
  let code: Code | null = null;
  let level = 0;
  return {
    open(name, attribute) {
      level += 1;
      if (code !== null) return;
      if (CODES.has(name)) code = { name, attribute, level, text: '' };
      if (name === 'hi')
        pieces.push({ key: `hi ${level}`, isEnd: false, written: openingTag('', attribute('type')) });
    },
    addText(text) {
      if (code === null) pieces.push(text);
      // Deeper is text beside the sentence, such as a footnote.
      else if (code.level === level) code.text += text;
    },
    close() {
      if (code === null) pieces.push({ key: `hi ${level}`, isEnd: true, written: '' });
      else if (code.level === level) {
        pieces.push(readCode(code));
        code = null;
      }
      level -= 1;
    },
    cues() {
      const cues: Exclude<Piece, null>[][] = [[]];
      for (const piece of pieces) {
        if (piece === null) cues.push([]);
        else cues.at(-1)?.push(piece);
      }
      return cues.map((parts) => ({
        text: writeCue(parts),
        plain: parts.filter((part) => typeof part === 'string').join(''),
      }));
    },
  };
}

function writeCue(parts: readonly Exclude<Piece, null>[]): string {
  const tags = parts.filter((part) => typeof part !== 'string');
  const written = new Map<string | FormatTag, string>();
  for (const { begin, end } of findPairs(tags)) {
    const [opening, closing] = [tags[begin], tags[end]];
    if (opening === undefined || closing === undefined) continue;
    written.set(opening, opening.written);
    written.set(closing, closingTag(opening.written));
  }
  return parts.map((part) => (typeof part === 'string' ? part : (written.get(part) ?? ''))).join('');
}

/** Names of HTML and types of TMX. */
const FORMATS: Readonly<Record<string, string>> = {
  ...{ b: 'b', strong: 'b', bold: 'b', i: 'i', em: 'i', italic: 'i' },
  ...{ u: 'u', underline: 'u', underlined: 'u', ulined: 'u', dulined: 'u' },
};
const HTML_TAG = /^<(\/?)(\w+)[^<>]*>$/;

/** The tag of a code with this text and type; empty if cues have none. */
function openingTag(code: string, type: string): string {
  const element = HTML_TAG.exec(code)?.[2]?.toLowerCase() ?? '';
  if (element === 'font') return code;
  const format = FORMATS[element] ?? FORMATS[type.toLowerCase()];
  return format === undefined ? '' : `<${format}>`;
}

function readCode({ name, attribute, text }: Code): Piece {
  const code = text.trim();
  const type = attribute('type');
  if (type === NEXT_CUE) return null;
  if (type === CUE_CODE && name === 'ph') return code;
  if (type === 'lb' || /^<br\s*\/?>$/i.test(code)) return '\n';
  const written = type === CUE_CODE ? code : openingTag(code, type);
  if (name === 'bpt' || name === 'ept')
    return { key: `pair ${attribute('i')}`, isEnd: name === 'ept', written };
  // Both ends of a format are such codes in programs without pairs.
  const isEnd = attribute('pos') === 'end' || HTML_TAG.exec(code)?.[1] === '/';
  return written === '' ? '' : { key: written.replace(/[\s>].*$/s, '').replace('/', ''), isEnd, written };
}

const CUE_TAG = new RegExp(`(${PLAYER_TAG}|${OVERRIDE.source})`, 'gi');
const TYPES: Readonly<Record<string, string>> = { b: 'bold', i: 'italic', u: 'ulined', font: 'font' };

/** The content of `<seg>`: the tags of cues become elements, in pairs or alone, and are read again as they were. */
export function writeSegment(cues: readonly string[], escapeText: (text: string) => string): string {
  let pairs = 0;
  const writeText = (text: string) => {
    // Each second part is a tag.
    const parts = text.split(CUE_TAG);
    const tags = parts.filter((_, at) => at % 2 === 1);
    const written = parts.map((part, at) =>
      at % 2 === 1 ? `<ph type="${CUE_CODE}">${escapeText(part)}</ph>` : escapeText(part),
    );
    const ends = tags.map((tag) => ({ key: closingTag(tag), isEnd: tag.startsWith('</') }));
    for (const { begin, end } of findPairs(ends)) {
      const [opening = '', closing = ''] = [tags[begin], tags[end]];
      const isFormat = openingTag(opening, '') === opening;
      const type = isFormat ? TYPES[/\w+/.exec(opening)?.[0] ?? ''] : CUE_CODE;
      pairs += 1;
      written[2 * begin + 1] = `<bpt i="${pairs}" type="${type}">${escapeText(opening)}</bpt>`;
      written[2 * end + 1] = `<ept i="${pairs}">${escapeText(closing)}</ept>`;
    }
    return written.join('');
  };
  return cues.map(writeText).join(`<ph type="${NEXT_CUE}"/>`);
}

/** `</c>` for `<c.yellow>`. */
function closingTag(opening: string): string {
  return opening.replace(/^<(\w+).*$/s, '</$1>');
}
