/** The cues that need a person, for the HTML report: with the files that the page can edit. */
import { readFile } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { parseSrt } from '../../protocol/srt.ts';
import type { AttentionPlace } from './attention.ts';
import type { ReportAttention, ReportAttentionFile, ReportPlace } from './page-facts.ts';

/** A place with what the page shows besides. */
export interface PagePlace extends AttentionPlace {
  /** Label of the item. */
  readonly item: string;
  readonly language: string | null;
  /** The command after an edit; null if it is not known. */
  readonly command: string | null;
}

/**
 * Reads the files of the places. One that is not SRT in UTF-8, or cannot be read, is only named.
 * @param entryOf the id of the entry that shows a file; null for none
 */
export async function buildAttention(
  places: readonly PagePlace[],
  pageFolder: string,
  entryOf: (file: string) => string | null,
): Promise<ReportAttention> {
  const files = new Map<string, ReportAttentionFile & { readonly rows: CueRows }>();
  for (const { file, language, command } of places) {
    if (file === null || files.has(file)) continue;
    const path = relative(pageFolder, file).split(sep).join('/');
    const found = await readEditable(file).catch(() => null);
    const known = { path, language, command, entry: entryOf(file) };
    files.set(file, { ...known, text: found?.text ?? null, rows: found?.rows ?? new Map() });
  }
  const order = [...files.keys()];
  return {
    files: [...files.values()].map(({ rows: _, ...file }) => file),
    places: places.map(
      ({ item, file, row, cue, start_ms, source, text, reasons }): ReportPlace => ({
        ...{ item, row, cue, start_ms, source, text, reasons },
        file: file === null ? null : order.indexOf(file),
        edit: (cue === null || file === null ? null : files.get(file)?.rows.get(cue)) ?? null,
      }),
    ),
  };
}

type CueRows = ReadonlyMap<number, NonNullable<ReportPlace['edit']>>;

/** The text with its byte order mark, and where its cues are; null for a file that the page cannot edit. */
async function readEditable(path: string): Promise<{ readonly text: string; readonly rows: CueRows } | null> {
  const { scanText } = await import('../../media/subtitles/read-subtitle.ts');
  const bytes = await readFile(path);
  const { format, cues } = scanText(bytes, path);
  if (format !== 'srt') return null;
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  // A text that was read otherwise than it will be sent could not be checked after an edit.
  parseSrt(text, Number.POSITIVE_INFINITY);
  const rows = cues.flatMap(({ number, row, place }) =>
    !('textRows' in place) ? [] : [[number, { row, rows: place.textRows }] as const],
  );
  return { text, rows: new Map(rows) };
}
