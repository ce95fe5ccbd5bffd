import { type OutputForm, writeDocument } from './presentation.ts';

/** A row on each line, with tabs between its cells. */
export const plain: OutputForm = {
  part: 'rows',
  text: 'columns',
  write: (shown) => shown.rows?.().map((cells) => cells.join('\t')) ?? writeDocument(shown),
};
