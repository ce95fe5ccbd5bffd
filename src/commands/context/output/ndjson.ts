import { type OutputForm, writeDocument } from './presentation.ts';

/** A JSON document on each line, as soon as it is known. */
export const ndjson: OutputForm = {
  part: 'events',
  text: 'json',
  write: (shown) => shown.events?.().map((event) => JSON.stringify(event)) ?? writeDocument(shown),
};
