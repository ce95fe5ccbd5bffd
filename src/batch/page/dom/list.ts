/** The list of entries. One of its rows can be reached with Tab, the others from it with the arrow keys. */

import type { ListedEntry } from '../choose.ts';
import { formatClock } from '../times.ts';
import { STATE_NAMES, splitName } from '../words.ts';
import { make, setTabStop } from './element.ts';

interface EntryList {
  readonly node: HTMLElement;
  /** Shows these entries, in this order. */
  show(entries: readonly ListedEntry[]): void;
  /** Marks the open entry; null for none. */
  mark(id: string | null): void;
  /** Moves the focus to the row that Tab reaches. */
  focus(): void;
}

export function makeList(entries: readonly ListedEntry[]): EntryList {
  const rows = new Map(entries.map((entry) => [entry.id, makeRow(entry)]));
  // Without the role, Safari does not announce a list that has no markers.
  const node = make('ol', { class: 'entries', role: 'list' });
  const stop = () => node.querySelector<HTMLElement>('[tabindex="0"]');
  return {
    node,
    show(chosen) {
      node.replaceChildren(...chosen.map(({ id }) => rows.get(id)).filter((row) => row !== undefined));
      if (stop() === null) setTabStop(node, node.querySelector('a'));
    },
    mark(id) {
      node.querySelector('[aria-current]')?.removeAttribute('aria-current');
      const link = id === null ? null : (rows.get(id)?.querySelector('a') ?? null);
      link?.setAttribute('aria-current', 'page');
      if (link === null || !node.contains(link)) return;
      setTabStop(node, link);
      link.scrollIntoView({ block: 'nearest' });
    },
    focus: () => stop()?.focus(),
  };
}

function makeRow(entry: ListedEntry): HTMLLIElement {
  const language = entry.language !== null && make('span', { class: 'tag' }, entry.language);
  const [start, end] = splitName(entry.name);
  const name = make(
    'span',
    { class: 'name', dir: 'auto', title: entry.name },
    make('span', { class: 'start' }, start),
    end !== '' && make('span', { class: 'end' }, end),
  );
  const state = make('span', { class: `state ${entry.state}` }, STATE_NAMES[entry.state]);
  const known = describe(entry);
  const facts = make('span', { class: 'facts', title: known }, known);
  const link = make('a', { href: `#${entry.id}`, tabindex: -1 }, name, language, state, facts);
  return make('li', {}, link);
}

function describe(entry: ListedEntry): string {
  const failures = entry.jobs.flatMap(({ failure }) => (failure === null ? [] : [failure.code]));
  const waits = entry.jobs.flatMap(({ waits_for }) => (waits_for === null ? [] : [waits_for]));
  const { misfits } = entry;
  return [
    entry.variant,
    entry.duration_ms !== null && formatClock(entry.duration_ms),
    ...new Set(failures),
    ...(failures.length === 0 ? new Set(waits) : []),
    entry.cuts !== null && 'cues cut off',
    misfits !== null && misfits > 0 && `${misfits} line${misfits === 1 ? '' : 's'} of poor fit`,
  ]
    .filter(Boolean)
    .join(' · ');
}
