import { describe, expect, it } from 'vitest';
import { KEYS, type KeyPlace, readKey } from '../../../src/batch/page/keys.ts';

const press = (
  key: string,
  place: KeyPlace = 'page',
  held: Partial<Record<'ctrlKey' | 'metaKey', boolean>> = {},
) => readKey({ key, ctrlKey: false, metaKey: false, altKey: false, ...held }, place);

describe('a key', () => {
  it.each([
    [' ', { type: 'play' }],
    ['ArrowLeft', { type: 'seek', byMs: -5000 }],
    ['n', { type: 'line', by: 1 }],
    ['[', { type: 'entry', by: -1 }],
    ['3', { type: 'listen', place: 2 }],
    ['/', { type: 'search' }],
  ])('%s acts on the page', (key, action) => {
    expect(press(key)).toEqual(action);
  });

  it('belongs to the focused text field, except Escape', () => {
    expect(press('n', 'field')).toBeNull();
    expect(press('/', 'field')).toBeNull();
    expect(press('Escape', 'field')).toEqual({ type: 'close' });
  });

  it('operates the focused control before it plays or seeks', () => {
    expect(press(' ', 'control')).toBeNull();
    expect(press('ArrowRight', 'control')).toBeNull();
    expect(press('n', 'control')).toEqual({ type: 'line', by: 1 });
  });

  it('moves in the list of the focused row, and nowhere else', () => {
    expect(press('ArrowDown', 'row')).toEqual({ type: 'row', to: 'next' });
    expect(press('Home', 'row')).toEqual({ type: 'row', to: 'first' });
    expect(press('ArrowRight', 'row')).toBeNull();
    expect(press('Enter', 'row')).toBeNull();
    for (const place of ['page', 'control', 'field'] as const) expect(press('ArrowDown', place)).toBeNull();
  });

  it('together with Ctrl or Cmd belongs to the browser', () => {
    expect(press('p', 'page', { ctrlKey: true })).toBeNull();
    expect(press('n', 'page', { metaKey: true })).toBeNull();
  });

  it('has one meaning only', () => {
    const all = KEYS.flatMap(({ keys }) => keys);
    expect(new Set(all).size).toBe(all.length);
  });
});
