import { type OutputForm, writeDocument } from './presentation.ts';

/** One JSON document. */
export const json: OutputForm = {
  part: 'document',
  text: 'json',
  write: (shown) => writeDocument(shown, 2),
};
