/** Processes subtitle text: removes markup of players. */

/** Matches `<i>` and `</font>`. A `<` that does not start a tag stays. */
const TAG = /<\/?[a-z][^<>]{0,200}>/gi;
/** Tags of SRT, WebVTT and the HTML that players accept. Other tags may be placeholders: `<name>`. */
export const PLAYER_TAG = String.raw`<\/?(?:i|b|u|s|em|strong|font|br|c|v|lang|ruby|rt|span|p|div|small|big|sub|sup|strike|center)(?![^\s.>/])[^<>]{0,200}>`;
const PLAYER_TAGS = new RegExp(PLAYER_TAG, 'gi');
/** Override tags of the ASS format, which players accept in SRT: `{\an8}`. */
const OVERRIDE = /\{\\[^{}]{0,200}\}/g;
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
  return text
    .replace(/\r\n?/g, '\n')
    .replace(tags === 'all' ? TAG : PLAYER_TAGS, '')
    .replace(OVERRIDE, '')
    .replace(CONTROLS, ' ')
    .replace(BIDI_OVERRIDES, '')
    .replace(/[^\S\n]+/g, ' ')
    .trim();
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
  let text = '';
  for (const part of parts) {
    const isSpaced = text !== '' && !(SPACELESS.test(text.at(-1) ?? '') && SPACELESS.test(part.charAt(0)));
    text += (isSpaced ? ' ' : '') + part;
  }
  return text;
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
