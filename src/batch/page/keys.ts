/** Keyboard shortcuts, in one table that the help of the page uses too. */

export type KeyAction =
  | { readonly type: 'play' | 'search' | 'close' | 'theme' | 'help' }
  | { readonly type: 'seek'; readonly byMs: number }
  | { readonly type: 'line' | 'entry'; readonly by: 1 | -1 }
  /** Within the list that has the focus. */
  | { readonly type: 'row'; readonly to: RowStep }
  /** Index of the audible track, in display order. */
  | { readonly type: 'listen'; readonly place: number };

export type RowStep = 'previous' | 'next' | 'first' | 'last';

interface KeyRow {
  readonly keys: readonly string[];
  readonly shown: string;
  readonly meaning: string;
  readonly act: (key: string) => KeyAction;
}

/** The same keys as in common web players. */
const SEEK_MS = 5_000;

const ROW_STEPS: Readonly<Record<string, RowStep>> = {
  ArrowUp: 'previous',
  ArrowDown: 'next',
  Home: 'first',
  End: 'last',
};

export const KEYS: readonly KeyRow[] = [
  { keys: [' ', 'k'], shown: 'Space', meaning: 'play or pause', act: () => ({ type: 'play' }) },
  {
    keys: ['ArrowLeft', 'ArrowRight'],
    shown: '← →',
    meaning: 'five seconds back, forward',
    act: (key) => ({ type: 'seek', byMs: key === 'ArrowLeft' ? -SEEK_MS : SEEK_MS }),
  },
  {
    keys: ['p', 'n'],
    shown: 'p n',
    meaning: 'previous, next line',
    act: (key) => ({ type: 'line', by: key === 'p' ? -1 : 1 }),
  },
  {
    keys: ['[', ']'],
    shown: '[ ]',
    meaning: 'previous, next video',
    act: (key) => ({ type: 'entry', by: key === '[' ? -1 : 1 }),
  },
  {
    keys: ['1', '2', '3', '4', '5'],
    shown: '1 … 5',
    meaning: 'which track is heard',
    act: (key) => ({ type: 'listen', place: Number(key) - 1 }),
  },
  {
    keys: Object.keys(ROW_STEPS),
    shown: '↑ ↓',
    meaning: 'another row of the list with the focus; also Home, End',
    act: (key) => ({ type: 'row', to: ROW_STEPS[key] ?? 'first' }),
  },
  { keys: ['/'], shown: '/', meaning: 'search', act: () => ({ type: 'search' }) },
  { keys: ['Escape'], shown: 'Esc', meaning: 'back to the list', act: () => ({ type: 'close' }) },
  { keys: ['t'], shown: 't', meaning: 'light or dark', act: () => ({ type: 'theme' }) },
  { keys: ['?'], shown: '?', meaning: 'these keys', act: () => ({ type: 'help' }) },
];

interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/**
 * Where the focus is: a field receives all keys except Escape, a control those that operate it. A row is a control in a list
 * that the arrow keys move in.
 */
export type KeyPlace = 'field' | 'control' | 'row' | 'page';

/** Keys that operate buttons, links, sliders and radio buttons. */
const CONTROL_KEYS = new Set([' ', 'Enter', 'ArrowLeft', 'ArrowRight']);

/** The action of a key press; null leaves it to the browser. */
export function readKey(press: KeyPress, place: KeyPlace): KeyAction | null {
  if (press.ctrlKey || press.metaKey || press.altKey) return null;
  if (place === 'field' && press.key !== 'Escape') return null;
  if ((place === 'control' || place === 'row') && CONTROL_KEYS.has(press.key)) return null;
  // Elsewhere they scroll, or operate the control.
  if (place !== 'row' && Object.hasOwn(ROW_STEPS, press.key)) return null;
  return KEYS.find(({ keys }) => keys.includes(press.key))?.act(press.key) ?? null;
}
