/** The subtitle files of the HTML report that the page can edit, and the cues that need a person. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { parseSrt } from '../../protocol/srt.ts';
import type { AttentionPlace } from './attention.ts';
import { nameItem } from './item-report.ts';
import type { CuePlace, ReportPlace, ReportTextFile } from './page-facts.ts';
import type { PageSource } from './page-jobs.ts';

/** The item of a text: its key, and the folder of its records. */
export interface TextOwner {
  readonly key: string;
  readonly folder: string;
}

/** A text in a file of a batch. */
export interface OwnedText {
  /** Absolute. */
  readonly file: string;
  readonly language: string | null;
  readonly owner: TextOwner;
}

/** A place with what the page shows besides. */
export interface PagePlace extends AttentionPlace, Omit<OwnedText, 'file'> {
  /** Label of the item. */
  readonly item: string;
}

/** A cue of a file as it is written. */
interface FileCue {
  readonly number: number;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly text: string;
  readonly edit: CuePlace | null;
}

interface TextFile {
  /** Its index. */
  readonly at: number;
  /** Empty for a file that the page cannot edit. */
  readonly cues: readonly FileCue[];
}

export interface TextFiles {
  readonly all: readonly ReportTextFile[];
  /** Reads a file at its first use. @param entry id of the entry that shows it; null for none */
  open(text: OwnedText, entry: string | null): Promise<TextFile>;
}

export function createTextFiles({ pathOf, commands }: Pick<PageSource, 'pathOf' | 'commands'>): TextFiles {
  const all: ReportTextFile[] = [];
  const opened = new Map<string, TextFile>();
  return {
    all,
    async open(text, entry) {
      const known = opened.get(text.file);
      if (known !== undefined) return known;
      // One that is not SRT in UTF-8, or cannot be read, is only named.
      const found = await readEditable(text.file).catch(() => null);
      const path = pathOf(text.file) ?? basename(text.file);
      const file = { at: all.length, cues: found?.cues ?? [] };
      opened.set(text.file, file);
      const { language } = text;
      all.push({
        path,
        language,
        entry,
        text: found?.text ?? null,
        command: commands?.afterEdit(text) ?? null,
      });
      return file;
    },
  };
}

export async function buildPlaces(
  places: readonly PagePlace[],
  files: TextFiles,
): Promise<readonly ReportPlace[]> {
  const built: ReportPlace[] = [];
  for (const { item, file, row, cue, start_ms, source, text, reasons, language, owner } of places) {
    const opened = file === null ? null : await files.open({ file, language, owner }, null);
    const edit = opened?.cues.find(({ number }) => number === cue)?.edit ?? null;
    const name = nameItem({ key: owner.key, label: item });
    built.push({ item: name, row, cue, start_ms, source, text, reasons, file: opened?.at ?? null, edit });
  }
  return built;
}

/** The text with its byte order mark, and its cues; null for a file that the page cannot edit. */
async function readEditable(path: string) {
  const { scanText } = await import('../../media/subtitles/read-subtitle.ts');
  const bytes = await readFile(path);
  const { format, cues } = scanText(bytes, path);
  if (format !== 'srt') return null;
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  // A text that was read otherwise than it will be sent could not be checked after an edit.
  parseSrt(text, Number.POSITIVE_INFINITY);
  const found = cues.map(
    ({ number, row, start_ms, end_ms, text: shown, place }): FileCue => ({
      ...{ number, start_ms, end_ms, text: shown },
      edit: 'textRows' in place ? { row, rows: place.textRows } : null,
    }),
  );
  return { text, cues: found };
}
