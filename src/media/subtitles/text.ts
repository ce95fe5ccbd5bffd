/** Processes subtitle text: removes markup of players. */
import { decodeHTMLStrict } from 'entities';

/** Matches `<i>` and `</font>`. A `<` that does not start a tag stays. */
const TAG = /<\/?[a-z][^<>]{0,200}>/gi;
/** Tags of SRT, WebVTT and the HTML that players accept. Other tags may be placeholders: `<name>`. */
export const PLAYER_TAG = String.raw`<\/?(?:i|b|u|s|em|strong|font|br|c|v|lang|ruby|rt|span|p|div|small|big|sub|sup|strike|center)(?![^\s.>/])[^<>]{0,200}>`;
const PLAYER_TAGS = new RegExp(PLAYER_TAG, 'gi');
/** Override tags of the ASS format, which players accept in SRT: `{\an8}`. */
export const OVERRIDE = /\{\\[^{}]{0,200}\}/g;
/** Control characters except the line break. espeak-ng interprets some of them as commands. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match them
const CONTROLS = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g;
/** Characters that change the direction of the surrounding text, which can hide its real content. */
const BIDI_OVERRIDES = /[\u202A-\u202E\u2066-\u2069\u200B\uFEFF]/g;

/**
 * Removes tags, override tags and control characters. Keeps line breaks.
 * @param tags `player` keeps tags that no player knows, which may be placeholders
 */
export function stripMarkup(text: string, tags: 'all' | 'player' = 'all'): string {
  const visible = stripDrawings(text.replace(/\r\n?/g, '\n'))
    .replace(tags === 'all' ? TAG : PLAYER_TAGS, '')
    .replace(OVERRIDE, '');
  return decodeHTMLStrict(visible)
    .replace(CONTROLS, ' ')
    .replace(BIDI_OVERRIDES, '')
    .replace(/[^\S\n]+/g, ' ')
    .trim();
}

/** A reference of HTML: `&quot;`, `&#39;`, `&#x27;`. */
const REFERENCE = /&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});/gi;
/** Longer than any reference or beginning of a tag. */
const LOOKAHEAD = 40;

/**
 * Decodes the references of HTML, but for those whose character would begin a tag or another reference.
 * @param decode default: only references that end with a semicolon
 */
export function decodeReferences(text: string, decode: (text: string) => string = decodeHTMLStrict): string {
  const pattern =
    decode === decodeHTMLStrict ? REFERENCE : /&(?:#\d{1,7};?|#x[0-9a-f]{1,6};?|[a-z][a-z0-9]{1,31};?)/gi;
  return text.replace(pattern, (found, at: number) => {
    const decoded = decode(found);
    const rest = text.slice(at + found.length, at + found.length + LOOKAHEAD);
    const isMarkup =
      decoded === '<' ? /^\/?[a-z0-9]/i.test(rest) : decoded === '&' && /^#?[a-z0-9]{1,31};/i.test(rest);
    return isMarkup ? found : decoded;
  });
}

/** Shapes between `{\p1}` and `{\p0}`. */
const SHAPES =
  /\{[^{}]{0,200}\\p[1-9](?![^{}]{0,200}\\p0)[^{}]{0,200}\}[^{}]*(?:\{(?![^{}]{0,200}\\p0)[^{}]{0,200}\}[^{}]*)*/g;
/** A shape that lost the tag in front of it. */
const SHAPE = /^\s*m(?:\s+-?\d+(?:\.\d+)?){2,}(?:\s+[mnlbspc](?:\s+-?\d+(?:\.\d+)?)*)+\s*$/i;

/** Removes the shapes that ASS draws, also in SRT. */
export function stripDrawings(text: string): string {
  return isDrawing(text) ? '' : text.replace(SHAPES, '');
}

/** Whether a text is the instructions for a shape, without the tag for it. */
export function isDrawing(text: string): boolean {
  return SHAPE.test(text);
}

/** Returns whether there is anything to speak or translate: a letter or a digit. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/** Scripts that put no space between words, and their punctuation. */
export const SPACELESS =
  /[\u3001-\u303F\uFF01-\uFF60\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** Joins parts of a text with the spaces that their scripts need. */
export function joinSpaced(parts: readonly string[]): string {
  const pieces: string[] = [];
  let last = '';
  for (const part of parts) {
    const isSpaced = last !== '' && !(SPACELESS.test(last) && SPACELESS.test(part.charAt(0)));
    const piece = (isSpaced ? ' ' : '') + part;
    pieces.push(piece);
    last = piece.at(-1) ?? last;
  }
  return pieces.join('');
}

/** Sung text: between notes, in a row that ends with a note, and from a note to the end of its row. */
const SONGS = [
  /[♩♪♫♬🎵🎶]+[^♩♪♫♬🎵🎶]+[♩♪♫♬🎵🎶]+/gu,
  /^.*[♩♪♫♬🎵🎶][ \t]*$/gmu,
  /[♩♪♫♬🎵🎶].*$/gmu,
] as const;
/** Descriptions of sounds and names of speakers: `[door slams]`. */
const SQUARE_BRACKETS = /\[[^[\]]*\]|［[^［］]*］|【[^【】]*】/gu;
/** A row of only `(music)`. */
const ROUND_ROW = /^[ \t]*[-–—]?[ \t]*(?:\([^()\n]*\)|（[^（）\n]*）)[ \t]*$/gmu;
/** `(sighs)` before a sentence. Brackets inside a sentence are part of it, and are spoken. */
const ROUND_BEFORE_SENTENCE = /(^|[.!?…。！？]["'”’»]?)(\s*[-–—]?\s*)(?:\([^()]*\)|（[^（）]*）)/gu;

/**
 * Returns the words of a cue that a voice speaks, on one row: without markup, songs and descriptions of sounds, which
 * remain in the subtitles.
 */
export function spokenText(text: string): string {
  const withoutSongs = SONGS.reduce((rest, song) => rest.replace(song, ' '), stripMarkup(text));
  return withoutSongs
    .replace(SQUARE_BRACKETS, ' ')
    .replace(ROUND_ROW, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(ROUND_BEFORE_SENTENCE, '$1$2')
    .replace(/\s+/g, ' ')
    .trim();
}
