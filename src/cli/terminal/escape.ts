/** Text from outside on its way to a terminal. */

// C0 and C1 controls, and the characters that reorder text: each could rewrite what the reader sees.
// biome-ignore lint/suspicious/noControlCharactersInRegex: matching them is the point
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Shows control and reordering characters as `\u001b` and the like, so that they cannot act. */
export function escapeControls(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The same for text of several rows: line breaks stay. */
export function escapeRows(text: string): string {
  return text.split('\n').map(escapeControls).join('\n');
}

/** The same for text that programs read: tabs part its columns and stay. */
export function escapeColumns(text: string): string {
  return text.split('\t').map(escapeControls).join('\t');
}

/** Controls and reordering characters that JSON allows in strings unescaped. */
const UNSAFE_IN_JSON = /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** JSON of the same value, in which such characters are written as `\u009b` and the like. */
export function escapeJson(json: string): string {
  return json.replace(
    UNSAFE_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
