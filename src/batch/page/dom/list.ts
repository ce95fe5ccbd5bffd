/** The list of entries. One of its rows can be reached with Tab, the others from it with the arrow keys. */

import { ENTRY_STATES } from '../../report/page-facts.ts';
import { EVERYTHING, isInState, type ListedEntry, type ListFilter, ORDERS } from '../choose.ts';
import { FILTER_NAMES, formatClock, ORDER_NAMES, STATE_NAMES, splitName } from '../words.ts';
import { makeElement, setTabStop } from './element.ts';

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
  const node = makeElement('ol', { class: 'entries', role: 'list' });
  const stop = () => node.querySelector<HTMLElement>('[tabindex="0"]');
  return {
    node,
    show(chosen) {
      node.replaceChildren(...chosen.map(({ id }) => rows.get(id)).filter((row) => row !== undefined));
      if (stop() === null) setTabStop(node, [...node.querySelectorAll('a')].slice(0, 1));
    },
    mark(id) {
      node.querySelector('[aria-current]')?.removeAttribute('aria-current');
      const link = id === null ? null : (rows.get(id)?.querySelector('a') ?? null);
      link?.setAttribute('aria-current', 'page');
      if (link === null || !node.contains(link)) return;
      setTabStop(node, link === null ? [] : [link]);
      link.scrollIntoView({ block: 'nearest' });
    },
    focus: () => stop()?.focus(),
  };
}

function makeRow(entry: ListedEntry): HTMLLIElement {
  const language = entry.language !== null && makeElement('span', { class: 'tag' }, entry.language);
  const [start, end] = splitName(entry.name);
  const name = makeElement(
    'span',
    { class: 'name', dir: 'auto', title: entry.name },
    makeElement('span', { class: 'start' }, start),
    end !== '' && makeElement('span', { class: 'end' }, end),
  );
  const state = makeElement('span', { class: `state ${entry.state}` }, STATE_NAMES[entry.state]);
  const known = describe(entry);
  const facts = makeElement('span', { class: 'facts', title: known }, known);
  const link = makeElement('a', { href: `#${entry.id}`, tabindex: -1 }, name, language, state, facts);
  return makeElement('li', {}, link);
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
    entry.losses.length > 0 && 'terms lost',
    misfits !== null && misfits > 0 && `${misfits} line${misfits === 1 ? '' : 's'} of poor fit`,
  ]
    .filter(Boolean)
    .join(' · ');
}

interface Tools {
  readonly node: HTMLElement;
  readonly search: HTMLInputElement;
  /** Shows the number of listed entries. */
  count(listed: number): void;
}

/** @param onChange called when search, filter or order changes */
export function makeTools(entries: readonly ListedEntry[], onChange: (choice: ListFilter) => void): Tools {
  let choice: ListFilter = EVERYTHING;
  const change = (part: Partial<ListFilter>) => {
    choice = { ...choice, ...part };
    onChange(choice);
  };
  const search = makeElement('input', {
    type: 'search',
    placeholder: 'Search names, errors, ids, subtitles',
    'aria-label': 'Search names, errors, ids and subtitles',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  search.addEventListener('input', () => change({ query: search.value }));
  const languages = [
    ...new Set(entries.map(({ language }) => language).filter((tag) => tag !== null)),
  ].sort();
  const language = makeSelect('Language', [
    ['', 'All languages'],
    ...languages.map((tag) => [tag, tag] as const),
  ]);
  language.addEventListener('change', () => change({ language: language.value }));
  const order = makeSelect(
    'Order',
    ORDERS.map((name) => [name, ORDER_NAMES[name]]),
  );
  order.addEventListener('change', () => {
    const chosen = ORDERS.find((name) => name === order.value);
    if (chosen !== undefined) change({ order: chosen });
  });
  const counter = makeElement('p', { class: 'count', role: 'status' });
  const selects = makeElement('div', { class: 'selects' }, languages.length > 1 && language, order);
  const states = makeStates(entries, (state) => change({ state }));
  return {
    node: makeElement('div', { class: 'tools', role: 'search' }, search, states, selects, counter),
    search,
    count: (listed) => {
      counter.textContent = listed === entries.length ? `${listed} listed` : `${listed} of ${entries.length}`;
    },
  };
}

/** One radio button for each state that occurs, with its number of entries. */
function makeStates(
  entries: readonly ListedEntry[],
  onChoose: (state: ListFilter['state']) => void,
): HTMLElement {
  const states: readonly ListFilter['state'][] = ['all', ...ENTRY_STATES, 'misfits'];
  const buttons = states.flatMap((state) => {
    const count = entries.filter((entry) => isInState(entry, state)).length;
    if (count === 0 && state !== 'all') return [];
    const radio = makeElement('input', {
      type: 'radio',
      name: 'state',
      value: state,
      checked: state === 'all',
    });
    radio.addEventListener('change', () => onChoose(state));
    const number = makeElement('span', { class: 'number' }, String(count));
    return [
      makeElement(
        'label',
        { class: `chip ${state}` },
        radio,
        makeElement('span', {}, FILTER_NAMES[state], ' ', number),
      ),
    ];
  });
  return makeElement('fieldset', { class: 'chips' }, makeElement('legend', {}, 'State'), ...buttons);
}

function makeSelect(label: string, options: readonly (readonly [string, string])[]): HTMLSelectElement {
  return makeElement(
    'select',
    { 'aria-label': label },
    ...options.map(([value, text]) => makeElement('option', { value }, text)),
  );
}
