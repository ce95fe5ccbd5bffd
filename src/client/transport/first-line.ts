/** Enough for the title of an error page. */
const READ_BYTES = 2048;
const SHOWN_CHARACTERS = 120;

/** The first words of a page that is no JSON, without tags and control characters; empty when it has none. */
export function firstLine(bytes: Buffer): string {
  const page = bytes.subarray(0, READ_BYTES).toString('utf8');
  const words = page
    .replace(/<(?:style|script)[^>]*>[^<]*/gi, ' ')
    .replace(/<[^>]*>/g, '\n')
    .replace(/[^\P{C}\n]/gu, '');
  const line = words.split('\n').find((each) => each.trim() !== '') ?? '';
  return line.trim().slice(0, SHOWN_CHARACTERS);
}
