/** Display names for terms of the document. */

import type { JobKind } from '../../protocol/kind-names.ts';
import type { EntryState, TrackRole } from '../report/page-facts.ts';
import type { ListFilter } from './choose.ts';

export const STATE_NAMES: Readonly<Record<EntryState, string>> = {
  failed: 'Failed',
  unfinished: 'Unfinished',
  done: 'Done',
};

export const FILTER_NAMES: Readonly<Record<ListFilter['state'], string>> = {
  all: 'All',
  ...STATE_NAMES,
  misfits: 'Poor fit',
};

export const ORDER_NAMES: Readonly<Record<ListFilter['order'], string>> = {
  attention: 'Failures first',
  name: 'By name',
  misfits: 'Poorest fit first',
};

export const TRACK_NAMES: Readonly<Record<TrackRole, string>> = {
  original: 'Original',
  localized: 'Localized',
  voice: 'Voice',
  background: 'Background',
  dub: 'Dub',
};

/** As much of the end of a name as distinguishes most files: a number and the extension. */
const END_CHARACTERS = 14;
/** Shorter names fit in the list. */
const LONG_CHARACTERS = 28;

/** Splits a long name in two, so that the list can leave out the middle; the end is empty for short names. */
export function splitName(name: string): readonly [start: string, end: string] {
  if (name.length <= LONG_CHARACTERS) return [name, ''];
  const characters = [...new Intl.Segmenter().segment(name)].map(({ segment }) => segment);
  return [characters.slice(0, -END_CHARACTERS).join(''), characters.slice(-END_CHARACTERS).join('')];
}

export const KIND_NAMES: Readonly<Record<JobKind, string>> = {
  audio_separation: 'Separate',
  subtitle_recognition: 'Recognize',
  subtitle_translation: 'Translate',
  dubbing: 'Dub',
  auto_localization: 'Localize',
};
