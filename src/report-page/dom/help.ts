/** What the keys do, in a box over the page. */
import { KEYS } from '../keys.ts';
import { make } from './element.ts';

export function makeHelp(): HTMLDialogElement {
  const rows = KEYS.map(({ shown, meaning }) =>
    make('div', {}, make('dt', {}, make('kbd', {}, shown)), make('dd', {}, meaning)),
  );
  const close = make('button', { type: 'submit' }, 'Close');
  const form = make('form', { method: 'dialog' }, close);
  return make(
    'dialog',
    { class: 'help', 'aria-labelledby': 'help-title' },
    make('h2', { id: 'help-title' }, 'Keys'),
    make('dl', {}, ...rows),
    form,
  );
}
