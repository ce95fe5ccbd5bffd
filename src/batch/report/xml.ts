/** The little XML that reports need. Source: XML 1.0, 2.2 (characters) and 3.3.3 (attribute values). */
import { showInvisible } from './visible-text.ts';

export type XmlNode = XmlElement | string;

export interface XmlElement {
  readonly name: string;
  /** Null values are omitted. */
  readonly attributes: Readonly<Record<string, string | number | null>>;
  readonly children: readonly XmlNode[];
}

/** A document, indented by two blanks a level; all texts and attribute values are escaped. */
export function writeXml(root: XmlElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeElement(root, '')}\n`;
}

function writeElement({ name, attributes, children }: XmlElement, indent: string): string {
  const written = Object.entries(attributes).flatMap(([attribute, value]) =>
    value === null ? [] : [` ${attribute}="${escapeXml(String(value))}"`],
  );
  const start = `${indent}<${name}${written.join('')}`;
  if (children.length === 0) return `${start}/>`;
  const [only] = children;
  if (children.length === 1 && typeof only === 'string') return `${start}>${escapeLines(only)}</${name}>`;
  const inside = children.map((child) =>
    typeof child === 'string' ? `${indent}  ${escapeLines(child)}` : writeElement(child, `${indent}  `),
  );
  return [`${start}>`, ...inside, `${indent}</${name}>`].join('\n');
}

function escapeLines(text: string): string {
  return text.split('\n').map(escapeXml).join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function escapeXml(text: string): string {
  return showInvisible(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
