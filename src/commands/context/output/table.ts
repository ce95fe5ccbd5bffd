import { type OutputForm, writeDocument } from './presentation.ts';

/** Tables and sentences for people. */
export const table: OutputForm = {
  part: 'pages',
  text: 'laid out',
  write: (shown) => shown.pages?.() ?? writeDocument(shown, 2),
};
