/** The texts that a person changes on the page, in one place for all views of them. */
import type { CuePlace, ReportTextFile } from '../report/page-facts.ts';
import { type CueEdit, editCues, findEditFault } from './edit.ts';

/** A text of a file, as the file has it. */
export interface FileText {
  /** Index of the file. */
  readonly file: number;
  readonly place: CuePlace;
  readonly text: string;
}

interface ChangedFile {
  readonly at: number;
  readonly file: ReportTextFile;
  /** Number of changed texts. */
  readonly count: number;
  readonly isUnsaved: boolean;
  /** Whether a text cannot be saved. */
  readonly isFaulty: boolean;
}

export interface Edits {
  /** The text as it is now. */
  textOf(cue: FileText): string;
  /** @returns why the text cannot be saved; null if it can */
  change(cue: FileText, text: string): string | null;
  /** The files with changed texts, or that were saved with some. */
  changed(): readonly ChangedFile[];
  /** The content of a file with its changed texts. */
  contentOf(file: number): string;
  markSaved(file: number): void;
  /** Calls the listener after each change, until the returned function is called. */
  listen(listener: () => void): () => void;
}

interface OpenFile {
  readonly edits: Map<number, CueEdit>;
  /** Rows of texts that cannot be saved. */
  readonly faults: Set<number>;
  isUnsaved: boolean;
  /** Whether the saved file has changed texts. */
  isWritten: boolean;
}

/** @param readText the content of a file as it was when the page was made */
export function createEdits(files: readonly ReportTextFile[], readText: (file: number) => string): Edits {
  const open = new Map<number, OpenFile>();
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  return {
    textOf: ({ file, place, text }) => open.get(file)?.edits.get(place.row)?.text ?? text,
    change({ file, place, text: before }, text) {
      const own = open.get(file) ?? {
        edits: new Map(),
        faults: new Set(),
        isUnsaved: true,
        isWritten: false,
      };
      open.set(file, own);
      const fault = text === before ? null : findEditFault(readText(file), { place, text });
      if (fault === null) own.faults.delete(place.row);
      else own.faults.add(place.row);
      if (text === before) own.edits.delete(place.row);
      else own.edits.set(place.row, { place, text });
      own.isUnsaved = true;
      if (own.edits.size === 0 && !own.isWritten) open.delete(file);
      tell();
      return fault;
    },
    changed: () =>
      [...open].flatMap(([at, { edits, faults, isUnsaved }]): ChangedFile[] => {
        const file = files[at];
        if (file === undefined) return [];
        return [{ at, file, count: edits.size, isUnsaved, isFaulty: faults.size > 0 }];
      }),
    contentOf: (file) => editCues(readText(file), [...(open.get(file)?.edits.values() ?? [])]),
    markSaved(file) {
      const own = open.get(file);
      if (own === undefined) return;
      own.isUnsaved = false;
      own.isWritten = true;
      tell();
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
