/** Entry point of the report page. */

import { plainText } from '../../report/markup.ts';
import type { EntryDetail, ReportFacts, ReportPlace } from '../../report/page-facts.ts';
import { chooseEntries, EVERYTHING, type ListedEntry } from '../choose.ts';
import { createEdits } from '../edits.ts';
import { KEYS, type KeyAction, type KeyPlace, readKey } from '../keys.ts';
import { makeAttention } from './attention.ts';
import { type OpenEntry, openEntry } from './detail.ts';
import { makeChanges } from './editor.ts';
import { makeElement, moveFocus } from './element.ts';
import { formatMoment } from './job-details.ts';
import { makeList, makeTools } from './list.ts';

type PageData = Omit<ReportFacts, 'entries' | 'places'> & { readonly entries: readonly ListedEntry[] };

/** @throws Error if the file is incomplete */
function readFacts(): PageData {
  return readBlock('facts') as PageData; // written by the program together with this script
}

function readDetail(id: string): EntryDetail {
  return readBlock(`detail-${id}`) as EntryDetail; // as above
}

function readPlaces(): readonly ReportPlace[] {
  return readBlock('places') as readonly ReportPlace[]; // as above
}

function readText(file: number): string {
  return readBlock(`text-${file}`) as string; // as above
}

/** The folder for commands: its full path if the page was opened from a disk; null for a page without commands. */
function nameFolder(relative: string | null): string | null {
  if (relative === null || location.protocol !== 'file:') return relative;
  const address = new URL(relative.split('/').map(encodeURIComponent).join('/'), location.href);
  const path = decodeURIComponent(address.pathname).replace(/(?<=.)\/$/, '');
  return path.replace(/^\/(?=[A-Za-z]:)/, '');
}

function readBlock(id: string): unknown {
  const text = document.getElementById(id)?.textContent;
  if (text === undefined || text === null) throw new Error(`this file is incomplete: it lacks "${id}"`);
  return JSON.parse(text);
}

const words = new Map<string, string>();

/** The subtitles of an entry in lower case, read at the first search. */
function subtitleWords({ id }: ListedEntry): string {
  const known = words.get(id);
  if (known !== undefined) return known;
  const lines = readDetail(id).subtitles.flatMap((subtitle) => subtitle.lines);
  const text = lines
    .map((line) => plainText(line.text))
    .join('\n')
    .toLowerCase();
  words.set(id, text);
  return text;
}

/** Reads the subtitles of all entries while the browser is idle, so that the first search need not. */
function readAhead(entries: readonly ListedEntry[]): void {
  // Safari has none: there the first search reads them.
  if (typeof requestIdleCallback !== 'function') return;
  let next = 0;
  requestIdleCallback(function read(deadline) {
    for (; next < entries.length && deadline.timeRemaining() > 0; next += 1) {
      const entry = entries[next];
      if (entry !== undefined) subtitleWords(entry);
    }
    if (next < entries.length) requestIdleCallback(read);
  });
}

function makeHelp(): HTMLDialogElement {
  const rows = KEYS.map(({ shown, meaning }) =>
    makeElement(
      'div',
      {},
      makeElement('dt', {}, makeElement('kbd', {}, shown)),
      makeElement('dd', {}, meaning),
    ),
  );
  const close = makeElement('button', { type: 'submit' }, 'Close');
  const form = makeElement('form', { method: 'dialog' }, close);
  return makeElement(
    'dialog',
    { class: 'help', 'aria-labelledby': 'help-title' },
    makeElement('h2', { id: 'help-title' }, 'Keys'),
    makeElement('dl', {}, ...rows),
    form,
  );
}

const KEY = 'vloc-report-theme';

/** Applies the saved theme; the default is that of the system. */
function restoreTheme(): void {
  const chosen = readChoice();
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
}

/** Switches between light and dark and saves the choice if the browser allows. */
function toggleTheme(): void {
  const { dataset } = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const next = (dataset.theme ?? system) === 'dark' ? 'light' : 'dark';
  dataset.theme = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Some browsers have no storage for local files; then the choice is not saved.
  }
}

function readChoice(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

const facts = readFacts();
const byId = new Map(facts.entries.map((entry) => [entry.id, entry]));
let listed: readonly ListedEntry[] = chooseEntries(facts.entries, EVERYTHING, subtitleWords);
let open: { readonly entry: ListedEntry; readonly view: OpenEntry } | null = null;

const list = makeList(facts.entries);
const tools = makeTools(facts.entries, (choice) => {
  listed = chooseEntries(facts.entries, choice, subtitleWords);
  list.show(listed);
  tools.count(listed.length);
});
const help = makeHelp();
const places = readPlaces();
const edits = createEdits(facts.files, readText);
const folder = nameFolder(facts.run_in);
const attention = makeAttention({ places, files: facts.files, edits, folder });
const changes = makeChanges(edits, folder ?? '');
edits.listen(changes.refresh);
/** Its fragment in the address of the page. */
const ATTENTION = 'attention';
let isAttentionOpen = false;
const toAttention =
  places.length > 0 &&
  makeElement(
    'a',
    { class: 'needs', href: `#${ATTENTION}` },
    makeElement('span', { class: 'name' }, 'Needs a person'),
    makeElement('span', { class: 'number' }, String(places.length)),
  );
const holder = makeElement('section', { class: 'detail', 'aria-label': 'Video', tabindex: -1 });

function button(text: string, title: string, onPress: () => void): HTMLButtonElement {
  const made = makeElement('button', { type: 'button', title }, text);
  made.addEventListener('click', onPress);
  return made;
}

function makeTop(): HTMLElement {
  const made = `vloc, ${formatMoment(facts.made_at)}`;
  const summary = [facts.cost, made].filter((part) => part !== null).join(' · ');
  return makeElement(
    'header',
    { class: 'top' },
    makeElement('h1', { dir: 'auto' }, facts.title),
    makeElement('p', {}, summary),
    ...facts.attributions.map((notice) => makeElement('p', { dir: 'auto' }, notice)),
    makeElement(
      'div',
      { class: 'buttons' },
      button('Keys', 'What the keys do (?)', () => help.showModal()),
      button('Light / dark', 'Light or dark (t)', toggleTheme),
      button('Print', 'Print the list and the open video', () => print()),
    ),
  );
}

/** Opens the entry in the address, so that links, the back button and reloading work. */
function showAddress(): void {
  const fragment = location.hash.slice(1);
  const entry = byId.get(fragment) ?? null;
  if (entry !== null && entry === open?.entry) return;
  isAttentionOpen = fragment === ATTENTION && toAttention !== false;
  open?.view.close();
  open = entry && { entry, view: openEntry(entry, readDetail(entry.id), edits, folder !== null) };
  document.body.classList.toggle('open', open !== null || isAttentionOpen);
  holder.setAttribute('aria-label', isAttentionOpen ? 'Needs a person' : 'Video');
  if (toAttention !== false) toAttention.toggleAttribute('aria-current', isAttentionOpen);
  const back = makeElement('a', { class: 'back', href: '#' }, '← All videos');
  const hint = makeElement('p', { class: 'hint' }, 'Choose a video to see it beside its results.');
  const shown = isAttentionOpen ? attention : open?.view.node;
  holder.replaceChildren(...(shown === undefined ? [hint] : [back, shown]), changes.node);
  holder.scrollTop = 0;
  list.mark(open?.entry.id ?? null);
}

/** Moves the focus of keyboard and screen readers to the opened video, and back to the list. */
function followAddress(): void {
  const before = [open, isAttentionOpen];
  showAddress();
  if (open === before[0] && isAttentionOpen === before[1]) return;
  if (open === null && !isAttentionOpen) list.focus();
  else holder.querySelector('h2')?.focus({ preventScroll: true });
}

/** List and video are side by side. The same width as in the style sheet. */
const isWide = () => matchMedia('(width > 52rem)').matches;

/** Opens what needs a person, or else the first entry, unless the address names one or a list that is alone on the screen. */
function openFirst(): void {
  const [first] = listed;
  // A replacement, so that the back button leaves the page.
  const id = toAttention === false ? first?.id : ATTENTION;
  if (location.hash === '' && id !== undefined && isWide()) location.replace(`#${id}`);
}

function stepEntry(by: 1 | -1): void {
  const place = listed.findIndex(({ id }) => id === open?.entry.id);
  const next = listed[place < 0 ? 0 : place + by];
  if (next !== undefined) location.hash = next.id;
}

function act(action: KeyAction, target: Element | null): void {
  const { view } = open ?? {};
  switch (action.type) {
    case 'play':
      view?.ensemble?.toggle();
      break;
    case 'seek':
      view?.ensemble?.seek(view.ensemble.time + action.byMs / 1000);
      break;
    case 'line':
      view?.stepLine(action.by);
      break;
    case 'listen':
      view?.listen(action.place);
      break;
    case 'entry':
      stepEntry(action.by);
      break;
    case 'row':
      if (target !== null) moveFocus(target, action.to);
      break;
    case 'search':
      // On narrow screens the list is hidden while a video is open.
      if (pane.offsetParent === null) location.hash = '';
      tools.search.focus();
      break;
    case 'close':
      location.hash = '';
      list.focus();
      break;
    case 'theme':
      toggleTheme();
      break;
    case 'help':
      help.showModal();
  }
}

function placeOf(target: Element | null): KeyPlace {
  if (target === null) return 'page';
  if (target.matches('.entries a, .lines button')) return 'row';
  if (target.matches('input[type=search], select, textarea')) return 'field';
  return target.matches('button, a, input, summary') ? 'control' : 'page';
}

document.addEventListener('keydown', (event) => {
  if (help.open) return;
  const target = event.target instanceof Element ? event.target : null;
  const action = readKey(event, placeOf(target));
  if (action === null) return;
  event.preventDefault();
  act(action, target);
});
addEventListener('hashchange', followAddress);
addEventListener('beforeunload', (event) => {
  if (edits.changed().some(({ isUnsaved }) => isUnsaved)) event.preventDefault();
});

restoreTheme();
list.show(listed);
tools.count(listed.length);
const pane = makeElement(
  'nav',
  { class: 'pane', 'aria-label': 'Videos' },
  toAttention,
  tools.node,
  list.node,
);
document
  .getElementById('page')
  ?.append(makeTop(), makeElement('main', { class: 'columns' }, pane, holder), help);
openFirst();
showAddress();
readAhead(facts.entries);
