/** What storage says when it refuses. It is not the API: its errors are XML, text, or nothing. */
import { firstLine } from './first-line.ts';

/** Enough of an error page to find its message. */
export const ERROR_PAGE_BYTES = 4096;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * The code and the message of an error of S3 and its like, else the first line of the page; empty when it says nothing.
 * @param page its beginning
 */
export function describeStorageError(page: Buffer): string {
  const text = page.toString('utf8');
  const words = [elementOf(text, 'Code'), elementOf(text, 'Message')].filter((each) => each !== '');
  return words.length > 0 ? words.join(': ') : firstLine(page);
}

/** The text of the first element of that name, on one line. */
function elementOf(xml: string, name: string): string {
  const found = new RegExp(`<${name}>([^<]{1,200})</${name}>`).exec(xml)?.[1] ?? '';
  return firstLine(Buffer.from(found)).replace(
    /&(amp|lt|gt|quot|apos);/g,
    (entity, word: string) => ENTITIES[word] ?? entity,
  );
}
