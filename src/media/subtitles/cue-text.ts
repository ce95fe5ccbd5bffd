/**
 * The text of cues, as each format writes it and as text with the tags of SRT: `<b>`, `<i>`, `<u>`, `<s>`, `<font color>` and
 * `{\an8}`. Pure.
 */
import { decodeHTML } from 'entities';
import type { SubtitleFormat } from '../../protocol/subtitle-line.ts';
import { assColour, colourOf, findTags, type StyleTag } from './style-tags.ts';
import { findPairs } from './tags.ts';
import { decodeReferences, isDrawing, OVERRIDE, PLAYER_TAG, stripDrawings } from './text.ts';

/** A written text: its words, and what surrounds all of them, such as the name of a speaker or a position. */
interface Surrounded {
  readonly before: string;
  readonly core: string;
  readonly after: string;
}

interface CueText {
  readonly surround: (written: string) => Surrounded;
  /** The text, rows separated by `\n`. */
  readonly decode: (written: string) => string;
  /** Writes a text. What the format does not have is left out in pairs. */
  readonly encode: (text: string) => string;
}

/** Rows are separated by `\n`, in ASS by `\N`. */
export const CUE_TEXT: Record<SubtitleFormat, CueText> = {
  srt: {
    surround: (written) => surroundTags(written, OPENING_IN_SRT),
    decode: (written) =>
      trimRows(decodeReferences(stripDrawings(breakRows(written.replaceAll(MICRODVD, ''))))),
    encode: (text) => text,
  },
  vtt: {
    surround: (written) => surroundTags(written, OPENING_IN_VTT),
    decode: (written) => trimRows(decodeReferences(stripVoices(breakRows(written)), decodeHTML)),
    encode: encodeVtt,
  },
  ass: { surround: surroundAss, decode: decodeAss, encode: encodeAss },
};

/** `{y:i}`, which players of SRT do not show. */
const MICRODVD = /\{[ycfsph]:[^{}]{0,200}\}/gi;

/** `<br>` of HTML, and `\N` and `\h` of ASS, which many tools write into other formats; but not `C:\New`. */
function breakRows(written: string): string {
  return written.replaceAll(/<[bB][rR]\s{0,8}\/?>|(?<!:)\\N/g, '\n').replaceAll(/(?<!:)\\h/g, '\u00A0');
}

function trimRows(text: string): string {
  return text
    .split('\n')
    .map((row) => row.trim())
    .join('\n')
    .trim();
}

const OPENING_IN_SRT = new RegExp(String.raw`^\s*${PLAYER_TAG.replace(String.raw`\/?`, '')}`, 'i');
const OPENING_IN_VTT = /^\s*<[a-z][^<>]{0,200}>/i;
/** An override block of ASS, which players accept in SRT, and a time of WebVTT. */
const ALONE = /^\s*(?:\{\\[^{}]{0,200}\}|<\d[^<>]{0,200}>)/;
const ALONE_AT_END = /\{\\[^{}]{0,200}\}\s{0,200}$/;

/** More than any editor writes; each costs a pass over the text. */
const MOST_LAYERS = 20;

/** The parts of a text with words of their own: its rows if each has something around it, as those of two speakers do, else all of it. */
export function splitParts(written: string, format: SubtitleFormat): readonly Surrounded[] {
  const { surround } = CUE_TEXT[format];
  const rows = written.split('\n').map(surround);
  return rows.length > 1 && rows.every(({ before, core }) => before !== '' && core.trim() !== '')
    ? rows
    : [surround(written)];
}

/** A tag surrounds the text if its end is at the end of the text, or missing, as that of `<v Anna>` often is. */
function surroundTags(written: string, opening: RegExp): Surrounded {
  let [from, to] = [0, written.length];
  for (let layer = 0; layer < MOST_LAYERS; layer += 1) {
    to = from + written.slice(from, to).replace(ALONE_AT_END, '').length;
    const core = written.slice(from, to);
    const [alone] = ALONE.exec(core) ?? [];
    const [open] = opening.exec(core) ?? [];
    if (alone !== undefined) from += alone.length;
    else if (open === undefined || /<br\b/i.test(open)) break;
    else {
      const end = findEnd(core, open);
      if (end !== null && core.slice(end.to).trim() !== '') break;
      from += open.length;
      if (end !== null) to += end.from - core.length;
    }
  }
  return { before: written.slice(0, from), core: written.slice(from, to), after: written.slice(to) };
}

/** Where the end of the tag at the beginning of a text is; null if it has none. */
function findEnd(text: string, open: string): { readonly from: number; readonly to: number } | null {
  const [, name = ''] = /<([a-z]+)/i.exec(open) ?? [];
  let depth = 0;
  for (const { 0: tag, 1: slash, index } of text.matchAll(
    new RegExp(`<(/?)${name}(?=[\\s.>])[^<>]{0,200}>`, 'gi'),
  )) {
    depth += slash === '' ? 1 : -1;
    if (depth === 0) return { from: index, to: index + tag.length };
  }
  return null;
}

/**
 * Tags for speakers, classes, languages and times exist only in WebVTT. `<b>`, `<i>` and `<u>` also exist in SRT. A tag that begins at
 * the end of the text is not shown.
 */
function stripVoices(text: string): string {
  return text
    .replaceAll(/<(?!\/?[biu][\s.>])[^<>]{0,200}>/gi, '')
    .replaceAll(/<(\/?[biu])[\s.][^<>]{0,200}>/gi, '<$1>')
    .replace(/(?<![^\s&<])(?:<[/a-z0-9.:]{0,200}\s{0,200}){1,20}$/i, '');
}

/** The colours that WebVTT has classes for. Source: W3C, WebVTT, "Default text colors". */
const CLASSES: Readonly<Record<string, string>> = {
  ...{ FFFFFF: 'white', '00FF00': 'lime', '00FFFF': 'cyan', FF0000: 'red', FFFF00: 'yellow' },
  ...{ FF00FF: 'magenta', '0000FF': 'blue', '000000': 'black' },
};

/** WebVTT has `<b>`, `<i>`, `<u>` and classes for eight colours. Positions are settings of a cue: see `vttSettings`. */
function encodeVtt(text: string): string {
  const written = writeTags(text.replaceAll(OVERRIDE, ''), {
    open: ({ key, attributes }) => {
      if (key === 'font') {
        const name = CLASSES[colourOf(attributes) ?? ''];
        return name === undefined ? null : [`<c.${name}>`, '</c>'];
      }
      return key === 's' || key === 'other' ? null : [`<${key}>`, `</${key}>`];
    },
    words: (part) => part.replaceAll(/&(?!(?:lt|amp);)/g, '&amp;').replaceAll('<', '&lt;'),
  });
  // Where a tag was left out, a blank row would end the cue.
  return written
    .split('\n')
    .filter((row) => row.trim() !== '')
    .join('\n');
}

/** `{\an8}` and the older `{\a6}`. */
const ALIGNMENT = /\{\\an?\d{1,2}[^{}]{0,200}\}/g;

/** The settings of a cue for its `{\an8}`: empty at the bottom centre, where cues are. Source: Aegisub manual; W3C, WebVTT, "Cue settings". */
export function vttSettings(text: string): string {
  const place = Number(/\{\\[^{}]{0,200}?\\?an([1-9])/.exec(text)?.[1] ?? 2);
  const line = place >= 7 ? ' line:0' : place >= 4 ? ' line:50%' : '';
  const align = ['', ' align:start position:0%', '', ' align:end position:100%'][((place - 1) % 3) + 1] ?? '';
  return line + align;
}

/** Rows of text that a picture is high in WebVTT, in which lines are counted. */
const VTT_ROWS = 18;

/** The `{\an8}` of a written cue, or of its settings in WebVTT: empty at the bottom centre, and for what is in no corner or side. */
export function alignmentOf(format: SubtitleFormat, written: string, settings: string): string {
  if (format === 'srt') return '';
  const place =
    format === 'ass' ? Number(/\{[^{}]*\\an([1-9])/.exec(written)?.[1] ?? 2) : placeOfSettings(settings);
  return place === 2 ? '' : `{\\an${place}}`;
}

/** As the keys of a number pad are. */
function placeOfSettings(settings: string): number {
  const [, line = '100', percent] = /\sline:(-?[\d.]+)(%?)/.exec(settings) ?? [];
  const [, position = '50'] = /\sposition:([\d.]+)%/.exec(settings) ?? [];
  const [, align = ''] = /\salign:(\w+)/.exec(settings) ?? [];
  const third = (share: number) => (share < 1 / 3 ? 0 : share < 2 / 3 ? 1 : 2);
  const row = line.startsWith('-') ? 2 : third(Number(line) / (percent === '%' ? 100 : VTT_ROWS));
  const sides = { start: 0, left: 0, end: 2, right: 2 };
  const column = Object.entries(sides).find(([name]) => name === align)?.[1] ?? third(Number(position) / 100);
  return 7 - 3 * row + column;
}

interface TagWriter {
  /** Start and end of a tag; null if the format does not have it. */
  readonly open: (tag: StyleTag) => readonly [string, string] | null;
  readonly words: (part: string) => string;
}

/** Writes the tags of a text in another format; those without their partner, and those that it does not have, are left out. */
function writeTags(text: string, { open, words }: TagWriter): string {
  const tags = findTags(text);
  const written = new Map<StyleTag | undefined, string>();
  for (const { begin, end } of findPairs(tags)) {
    const start = tags[begin];
    const pair = start === undefined ? null : open(start);
    if (pair === null) continue;
    written.set(start, pair[0]);
    written.set(tags[end], pair[1]);
  }
  let from = 0;
  let result = '';
  for (const tag of tags) {
    result += words(text.slice(from, tag.from)) + (written.get(tag) ?? '');
    from = tag.to;
  }
  return result + words(text.slice(from));
}

/** An override block; an escaped brace begins none, and one without a closing brace in the same row is text. */
const BLOCK = /(?<!\\)\{[^{}\n]*\}/g;
/** An override tag and its value. */
const OVERRIDES = /\\[^\\(){}]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?/g;
/** Tags for the whole row, wherever they are. */
const FOR_ROW = /^\\(?:an?\d|(?:pos|move|org|fade?|i?clip)\(|q\d)/;
/** Tags that the text has as tags of SRT. */
const AS_TAGS = /^\\[bius]\d*$/;
const OVERRIDE_NAME = /^\\(?:fn|r(?!nd)|\d?[a-z]+)/i;

interface Piece {
  /** An override block, or text. */
  readonly isBlock: boolean;
  readonly written: string;
  /** Whether drawing mode is on: the text is a shape. */
  readonly isShape: boolean;
}

function splitAss(written: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  let isShape = false;
  const add = (text: string, isBlock: boolean) => {
    if (text !== '') pieces.push({ isBlock, written: text, isShape });
  };
  for (const { 0: block, index } of written.matchAll(BLOCK)) {
    add(written.slice(from, index), false);
    add(block, true);
    // The last one of a block counts.
    const mode = [...block.matchAll(/\\p(\d{1,2})(?=[\\}])/g)].at(-1)?.[1];
    if (mode !== undefined) isShape = Number(mode) > 0;
    from = index + block.length;
  }
  add(written.slice(from), false);
  return pieces;
}

/**
 * Blocks around a single piece of text stay as they are. Of several pieces, what is in front of them stays if nothing changes it
 * later, and tags for the whole row.
 */
function surroundAss(written: string): Surrounded {
  const pieces = splitAss(written);
  const isText = (piece: Piece) => !piece.isBlock && !piece.isShape && piece.written.trim() !== '';
  const [first, ...others] = pieces.filter(isText);
  const join = (some: readonly Piece[]) => some.map((piece) => piece.written).join('');
  if (first === undefined) return { before: written, core: '', after: '' };
  if (others.length === 0) {
    const at = pieces.indexOf(first);
    return { before: join(pieces.slice(0, at)), core: first.written, after: join(pieces.slice(at + 1)) };
  }
  const at = pieces.indexOf(first);
  const later = pieces
    .slice(at)
    .flatMap((piece) => (piece.isBlock ? (piece.written.match(OVERRIDES) ?? []) : []));
  const nameOf = (tag: string) => OVERRIDE_NAME.exec(tag)?.[0] ?? '';
  const changed = new Set(later.map(nameOf));
  const isChanged = (tag: string) => changed.has(nameOf(tag)) || changed.has('\\r');
  const stays = (tag: string) => FOR_ROW.test(tag) || !(AS_TAGS.test(tag) || isChanged(tag));
  const lead = join(pieces.slice(0, at)).replaceAll(OVERRIDES, (tag) => (stays(tag) ? tag : ''));
  const moved = later.filter((tag) => FOR_ROW.test(tag)).join('');
  return { before: `${lead}{${moved}}`.replaceAll('{}', ''), core: written, after: '' };
}

/** In this order they are nested. */
const SWITCHED = ['b', 'i', 'u', 's'] as const;

/**
 * The text of a dialogue row without shapes; bold, italic, underlined and struck out text gets tags. `\N` and `\n` are line breaks,
 * `\h` is a space that does not break. Source: Aegisub manual, "ASS override tags".
 */
function decodeAss(written: string): string {
  let text = '';
  let on: readonly string[] = [];
  let wanted: ReadonlySet<string> = new Set();
  const turn = (next: readonly string[]) => {
    if (next.join() === on.join()) return;
    text +=
      on
        .toReversed()
        .map((key) => `</${key}>`)
        .join('') + next.map((key) => `<${key}>`).join('');
    on = next;
  };
  for (const piece of splitAss(written)) {
    if (piece.isBlock) wanted = readSwitches(piece.written, wanted);
    else if (!piece.isShape) {
      if (piece.written.trim() !== '') turn(SWITCHED.filter((key) => wanted.has(key)));
      text += plainAss(piece.written);
    }
  }
  turn([]);
  return isDrawing(text) ? '' : text.trim();
}

function readSwitches(block: string, before: ReadonlySet<string>): ReadonlySet<string> {
  const wanted = new Set(before);
  for (const [, key = 'r', value = ''] of block.matchAll(
    /\\(?:([bius])(\d{0,4})|r[^\\}]{0,100})(?=[\\}])/g,
  )) {
    if (key === 'r') wanted.clear();
    // Bold also has weights, from 100 to 900.
    else if (Number(value) === 1 || Number(value) > 500) wanted.add(key);
    else wanted.delete(key);
  }
  return wanted;
}

/** An opening brace without a closing one would begin a block in other players, so it becomes a similar character. */
function plainAss(text: string): string {
  return text
    .replaceAll(/\\([{}])/g, '$1')
    .replaceAll(/(?<!\\)\{(?![^{}\n]*\})/g, '\uFF5B')
    .replaceAll(/\\n/gi, '\n')
    .replaceAll('\\h', '\u00A0');
}

function encodeAss(text: string): string {
  const blocks = [...text.matchAll(ALIGNMENT)].map(([block]) => block).join('');
  const rows = writeTags(text.replaceAll(OVERRIDE, ''), {
    open: ({ key, attributes }) => {
      if (key === 'other') return null;
      if (key !== 'font') return [`{\\${key}1}`, `{\\${key}0}`];
      const colour = colourOf(attributes);
      return colour === null ? null : [`{${assColour(colour)}}`, '{\\c}'];
    },
    words: escapeAss,
  });
  return blocks + rows.replaceAll(/\r\n?|\n/g, '\\N').replaceAll('\u00A0', '\\h');
}

/** Replaces braces, which start override tags, and backslashes, which start line breaks, by similar characters. */
export function escapeAss(row: string): string {
  return row.replaceAll('\\', '\u29F5').replaceAll('{', '\uFF5B').replaceAll('}', '\uFF5D');
}
