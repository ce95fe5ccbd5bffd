/** Puts the page together. */
import { chooseEntries, EVERYTHING, type ListedEntry } from '../choose.ts';
import { type KeyAction, type KeyPlace, readKey } from '../keys.ts';
import { describeCharge } from '../times.ts';
import { readDetail, readFacts, subtitleWords } from './data.ts';
import { type OpenEntry, openEntry } from './detail.ts';
import { make } from './element.ts';
import { makeHelp } from './help.ts';
import { formatMoment } from './jobs.ts';
import { makeList } from './list.ts';
import { restoreTheme, toggleTheme } from './theme.ts';
import { makeTools } from './tools.ts';

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
const holder = make('section', { class: 'detail', 'aria-label': 'Video', tabindex: -1 });

function button(text: string, title: string, onPress: () => void): HTMLButtonElement {
  const made = make('button', { type: 'button', title }, text);
  made.addEventListener('click', onPress);
  return made;
}

function makeTop(): HTMLElement {
  const made = `${facts.tool}, ${formatMoment(facts.made_at)}`;
  const summary = [describeCharge(facts.charged_credits), made].join(' · ');
  return make(
    'header',
    { class: 'top' },
    make('h1', { dir: 'auto' }, facts.title),
    make('p', {}, summary),
    make(
      'div',
      { class: 'buttons' },
      button('Keys', 'What the keys do (?)', () => help.showModal()),
      button('Light / dark', 'Light or dark (t)', toggleTheme),
      button('Print', 'Print the list and the open video', () => print()),
    ),
  );
}

/** Opens what the address names, so that links, the back button and reloading work. */
function showAddress(): void {
  const entry = byId.get(location.hash.slice(1)) ?? null;
  if (entry !== null && entry === open?.entry) return;
  open?.view.close();
  open = entry && { entry, view: openEntry(entry, readDetail(entry.id)) };
  document.body.classList.toggle('open', open !== null);
  const back = make('a', { class: 'back', href: '#' }, '← All videos');
  const hint = make('p', { class: 'hint' }, 'Choose a video to see it beside its results.');
  holder.replaceChildren(...(open === null ? [hint] : [back, open.view.node]));
  holder.scrollTop = 0;
  list.mark(open?.entry.id ?? null);
  // Screen readers and keys go on from the video that was opened.
  holder.querySelector('h2')?.focus({ preventScroll: true });
}

function stepEntry(by: 1 | -1): void {
  const place = listed.findIndex(({ id }) => id === open?.entry.id);
  const next = listed[place < 0 ? 0 : place + by];
  if (next !== undefined) location.hash = next.id;
}

function act(action: KeyAction): void {
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
    case 'search':
      // On a narrow screen the list is out of sight while a video is open.
      if (pane.offsetParent === null) location.hash = '';
      tools.search.focus();
      break;
    case 'close':
      tools.search.blur();
      location.hash = '';
      break;
    case 'theme':
      toggleTheme();
      break;
    case 'help':
      help.showModal();
  }
}

function placeOf(target: EventTarget | null): KeyPlace {
  if (!(target instanceof Element)) return 'page';
  if (target.matches('input[type=search], select, textarea')) return 'field';
  return target.matches('button, a, input, summary') ? 'control' : 'page';
}

document.addEventListener('keydown', (event) => {
  if (help.open) return;
  const action = readKey(event, placeOf(event.target));
  if (action === null) return;
  event.preventDefault();
  act(action);
});
addEventListener('hashchange', showAddress);

restoreTheme();
list.show(listed);
tools.count(listed.length);
const pane = make('nav', { class: 'pane', 'aria-label': 'Videos' }, tools.node, list.node);
document.getElementById('page')?.append(makeTop(), make('main', { class: 'columns' }, pane, holder), help);
showAddress();
