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

/** `1:05`, `1:02:05`; rounded down, as in players. */
export function formatClock(ms: number): string {
  const total = Math.max(0, Math.floor(ms / 1000));
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor(total / 60) % 60;
  const pad = (value: number) => String(value).padStart(2, '0');
  const seconds = pad(total % 60);
  return hours > 0 ? `${hours}:${pad(minutes)}:${seconds}` : `${minutes}:${seconds}`;
}

/** A time with tenths, for the start of a cue: `1:05.2`. */
export function formatCueTime(ms: number): string {
  const tenths = Math.floor(Math.max(0, ms) / 100);
  return `${formatClock(tenths * 100)}.${tenths % 10}`;
}

/** A duration: `2.4 s`. */
export function formatSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** For screen readers: `1 minute 5 seconds`. */
export function speakClock(ms: number): string {
  const total = Math.max(0, Math.floor(ms / 1000));
  const part = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;
  const minutes = Math.floor(total / 60);
  return minutes === 0 ? part(total, 'second') : `${part(minutes, 'minute')} ${part(total % 60, 'second')}`;
}
