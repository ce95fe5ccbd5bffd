/** The list of entries. Rows are created once; filters only move and hide them. */
import type { ListedEntry } from '../choose.ts';
import { formatClock } from '../times.ts';
import { STATE_NAMES } from '../words.ts';
import { make } from './element.ts';

interface EntryList {
  readonly node: HTMLElement;
  /** Shows these entries, in this order. */
  show(entries: readonly ListedEntry[]): void;
  /** Marks the open entry; null for none. */
  mark(id: string | null): void;
}

export function makeList(entries: readonly ListedEntry[]): EntryList {
  const rows = new Map(entries.map((entry) => [entry.id, makeRow(entry)]));
  const node = make('ol', { class: 'entries' });
  return {
    node,
    show(chosen) {
      node.replaceChildren(...chosen.map(({ id }) => rows.get(id)).filter((row) => row !== undefined));
    },
    mark(id) {
      node.querySelector('[aria-current]')?.removeAttribute('aria-current');
      const link = id === null ? null : rows.get(id)?.firstElementChild;
      link?.setAttribute('aria-current', 'page');
      link?.scrollIntoView({ block: 'nearest' });
    },
  };
}

function makeRow(entry: ListedEntry): HTMLLIElement {
  const language = entry.language !== null && make('span', { class: 'tag' }, entry.language);
  const name = make('span', { class: 'name', dir: 'auto', title: entry.name }, entry.name);
  const state = make('span', { class: `state ${entry.state}` }, STATE_NAMES[entry.state]);
  const facts = make('span', { class: 'facts' }, describe(entry));
  const link = make('a', { href: `#${entry.id}` }, name, language, state, facts);
  return make('li', {}, link);
}

function describe(entry: ListedEntry): string {
  const failures = entry.jobs.flatMap(({ failure }) => (failure === null ? [] : [failure.code]));
  const waits = entry.jobs.flatMap(({ waits_for }) => (waits_for === null ? [] : [waits_for]));
  const { misfits } = entry;
  return [
    entry.duration_ms !== null && formatClock(entry.duration_ms),
    ...new Set(failures),
    ...(failures.length === 0 ? new Set(waits) : []),
    misfits !== null && misfits > 0 && `${misfits} line${misfits === 1 ? '' : 's'} of poor fit`,
  ]
    .filter(Boolean)
    .join(' · ');
}
