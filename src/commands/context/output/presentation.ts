/** What a command hands over to be printed, and what an output form does with it. */
import type { TableHead } from '../context.ts';

/** A table for people; its cells are escaped when it is laid out. */
export interface Table {
  readonly head: readonly TableHead[];
  readonly rows: readonly (readonly string[])[];
  /** True for one more row of a table that is printed row by row: it is printed without the head. */
  readonly isNext?: boolean;
}

/**
 * The data of a command in the ways that output forms need. A form makes only its own part; without it, it prints the document as
 * JSON, and without a document nothing. A command that prints in pieces hands over one of these for each.
 */
export interface Presentation {
  /** All of it as one JSON document. */
  readonly document?: () => unknown;
  /** True for a small document, which is one line in every form. */
  readonly isLine?: true;
  /** The same as lines of JSON. */
  readonly events?: () => readonly unknown[];
  /** The same as lines of cells, for programs that split text. */
  readonly rows?: () => readonly (readonly string[])[];
  /** The names of these cells; missing where a line is a text. */
  readonly names?: () => readonly string[];
  readonly ids?: () => readonly string[];
  /** For people: lines and tables, one below the other. */
  readonly pages?: () => readonly (string | Table)[];
  /** For people, on stderr after the pages. */
  readonly notes?: () => readonly string[];
}

/** Stands for a part that a form must not replace by the document. */
export const nothing = (): readonly never[] => [];

/** For documents that only forms of JSON print. */
export const JSON_ONLY = { rows: nothing, ids: nothing, pages: nothing } as const;

/** A small document, for which one text stands in forms that are not JSON. */
export function presentLine(document: object, text: string): Presentation {
  return {
    document: () => document,
    isLine: true,
    rows: () => [[text]],
    ids: () => [text],
    pages: () => [text],
  };
}

export interface OutputForm {
  /** The part of a presentation that it prints. */
  readonly part: 'document' | 'events' | 'rows' | 'ids' | 'pages';
  /** What its text is, by which it is escaped; --jq works on JSON. */
  readonly text: 'json' | 'columns' | 'line' | 'laid out';
  /** What is printed, one below the other. */
  readonly write: (shown: Presentation) => readonly (string | Table)[];
  /** Makes text of a table. Default: as people read it, in the width of the terminal. */
  readonly layOut?: (table: Table) => Promise<string>;
}

/** The document as text. @param indent in cells; 0 for one line */
export function writeDocument({ document, isLine }: Presentation, indent = 0): readonly string[] {
  return document === undefined ? [] : [JSON.stringify(document(), null, isLine ? 0 : indent)];
}

/** Prints what a command has, in the form that was chosen. */
export interface Presenter extends Pick<OutputForm, 'part' | 'text'> {
  /** Lines are printed before it returns, tables when they are laid out. */
  show(shown: Presentation): Promise<void>;
  /** Prints an event at once, if the form is made of events. */
  event(event: object): void;
}
