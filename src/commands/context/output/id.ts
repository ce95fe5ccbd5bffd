import { type OutputForm, writeDocument } from './presentation.ts';

/** An id on each line. */
export const id: OutputForm = {
  part: 'ids',
  text: 'line',
  write: (shown) => shown.ids?.() ?? writeDocument(shown),
};
