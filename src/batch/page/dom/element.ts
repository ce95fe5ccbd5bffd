/** Creates elements from plain values. Text becomes text nodes, so that no text can become markup. */

import { readMarkup } from '../../report/markup.ts';
import type { RowStep } from '../keys.ts';

type Child = Node | string | null | undefined | false;
type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

const SVG = 'http://www.w3.org/2000/svg';

/** Creates an element. The value `true` sets an empty attribute; `false`, null and undefined omit it. */
export function makeElement<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  fill(element, attributes, children);
  return element;
}

/** Creates an SVG element. */
export function drawElement<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[Name] {
  const element = document.createElementNS(SVG, name);
  fill(element, attributes, children);
  return element;
}

function fill(element: Element, attributes: Attributes, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
}

/** Text in the styles of its markup, as elements. */
export function makeStyled(text: string): Node[] {
  return readMarkup(text).map(({ text: words, isItalic, isBold, isUnderlined, color }) => {
    let node: Node = document.createTextNode(words);
    if (isItalic) node = makeElement('i', {}, node);
    if (isBold) node = makeElement('b', {}, node);
    if (isUnderlined) node = makeElement('u', {}, node);
    if (color === null) return node;
    const colored = makeElement('span', { class: 'colored' }, node);
    colored.style.color = color.css;
    colored.style.background = color.ground;
    return colored;
  });
}

/** Makes elements the only ones of a list that Tab reaches. */
export function setTabStop(list: Element, elements: Iterable<HTMLElement>): void {
  for (const before of list.querySelectorAll<HTMLElement>('[tabindex="0"]')) before.tabIndex = -1;
  for (const element of elements) element.tabIndex = 0;
}

/** Moves the focus to another row of the list that contains the element, to its link or its button for the time. */
export function moveFocus(from: Element, to: RowStep): void {
  const list = from.closest('ol');
  if (list === null) return;
  const rows: Element[] = [...list.querySelectorAll('a, .time')];
  const place = rows.findIndex((row) => row.closest('li') === from.closest('li'));
  const target = { previous: rows[place - 1], next: rows[place + 1], first: rows[0], last: rows.at(-1) }[to];
  if (!(target instanceof HTMLElement)) return;
  setTabStop(list, [target]);
  target.focus();
}

/** A valid language tag for a `lang` attribute, else undefined. */
export function languageAttribute(tag: string | null): string | undefined {
  return tag !== null && /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/.test(tag) ? tag : undefined;
}
