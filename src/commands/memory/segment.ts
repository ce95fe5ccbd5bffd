/** Reads a segment of TMX 1.4: its text, without the codes of other formats, and with the formatting that cues can hold. Pure. */
import { findPairs, type Tag } from '../../media/subtitles/tags.ts';

/** The type of a placeholder between the texts of a sentence that spans cues. */
export const NEXT_CUE = 'x-vloc-cue';

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
    written.set(closing, opening.written.replace(/^<(\w+).*$/s, '</$1>'));
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
  if (type === 'lb' || /^<br\s*\/?>$/i.test(code)) return '\n';
  const written = openingTag(code, type);
  if (name === 'bpt' || name === 'ept')
    return { key: `pair ${attribute('i')}`, isEnd: name === 'ept', written };
  // Both ends of a format are such codes in programs without pairs.
  const isEnd = attribute('pos') === 'end' || HTML_TAG.exec(code)?.[1] === '/';
  return written === '' ? '' : { key: written.replace(/[\s>].*$/s, '').replace('/', ''), isEnd, written };
}
