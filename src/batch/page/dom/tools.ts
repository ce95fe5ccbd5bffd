/** Search, filters and order above the list. */
import { ENTRY_STATES } from '../../report/page-facts.ts';
import { EVERYTHING, isInState, type ListedEntry, type ListFilter, ORDERS } from '../choose.ts';
import { FILTER_NAMES, ORDER_NAMES } from '../words.ts';
import { make } from './element.ts';

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
  const search = make('input', {
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
  const counter = make('p', { class: 'count', role: 'status' });
  const selects = make('div', { class: 'selects' }, languages.length > 1 && language, order);
  const states = makeStates(entries, (state) => change({ state }));
  return {
    node: make('div', { class: 'tools', role: 'search' }, search, states, selects, counter),
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
    const radio = make('input', { type: 'radio', name: 'state', value: state, checked: state === 'all' });
    radio.addEventListener('change', () => onChoose(state));
    const number = make('span', { class: 'number' }, String(count));
    return [
      make('label', { class: `chip ${state}` }, radio, make('span', {}, FILTER_NAMES[state], ' ', number)),
    ];
  });
  return make('fieldset', { class: 'chips' }, make('legend', {}, 'State'), ...buttons);
}

function makeSelect(label: string, options: readonly (readonly [string, string])[]): HTMLSelectElement {
  return make(
    'select',
    { 'aria-label': label },
    ...options.map(([value, text]) => make('option', { value }, text)),
  );
}
