/** The document of the page, as it lies in the file: the list at once, each detail when it is asked for. */
import type { EntryDetail, ReportFacts } from '../../batch/report/page-facts.ts';
import type { ListedEntry } from '../choose.ts';

export type PageData = Omit<ReportFacts, 'entries'> & { readonly entries: readonly ListedEntry[] };

/** @throws Error when the file was cut off */
export function readFacts(): PageData {
  return readBlock('facts') as PageData; // written by the program together with this script
}

export function readDetail(id: string): EntryDetail {
  return readBlock(`detail-${id}`) as EntryDetail; // as above
}

function readBlock(id: string): unknown {
  const text = document.getElementById(id)?.textContent;
  if (text === undefined || text === null) throw new Error(`this file is not whole: it lacks "${id}"`);
  return JSON.parse(text);
}

const words = new Map<string, string>();

/** What the subtitles of an entry say, in lower case; read once, when somebody searches. */
export function subtitleWords({ id }: ListedEntry): string {
  const known = words.get(id);
  if (known !== undefined) return known;
  const lines = readDetail(id).subtitles.flatMap((subtitle) => subtitle.lines);
  const text = lines
    .map((line) => line.text)
    .join('\n')
    .toLowerCase();
  words.set(id, text);
  return text;
}
