/** Encodings of text files, by their first bytes. */

/** UTF-16 with a byte order mark is what Windows editors and spreadsheets write; all else is read as UTF-8. */
export function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}
