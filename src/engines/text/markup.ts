/** Subtitle text comes from outside, with the markup of players in it, and worse. */

/** `<i>`, `</font>`; a `<` that opens no tag stays. */
const TAG = /<\/?[a-z][^<>]{0,200}>/gi;
/** Instructions of the ASS format, which players accept in SRT: `{\an8}`. */
const OVERRIDE = /\{\\[^{}]{0,200}\}/g;
/** Control characters but for the line break; espeak-ng takes some of them for commands. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CONTROLS = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g;
/** Characters that turn the direction of the text around them; they can make a row show something else than it says. */
const BIDI_OVERRIDES = /[\u202A-\u202E\u2066-\u2069\u200B\uFEFF]/g;

/** The words alone: no tags, no instructions, no control characters; line breaks stay. */
export function stripMarkup(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(TAG, '')
    .replace(OVERRIDE, '')
    .replace(CONTROLS, ' ')
    .replace(BIDI_OVERRIDES, '')
    .replace(/[^\S\n]+/g, ' ')
    .trim();
}

/** Whether there is anything in it to speak or to translate: a letter or a digit. */
export function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
