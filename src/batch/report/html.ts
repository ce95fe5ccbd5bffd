/** The page of a batch: its facts, its script and its style in one file that opens from disk and asks nobody for anything. */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ReportFacts } from './page-facts.ts';

/** Script and style of the page, as built. */
export interface PageParts {
  readonly script: string;
  readonly style: string;
}

/**
 * Writes the page. The document is divided: the list in one block of JSON, each entry's detail in one of its own, which
 * the page reads when the entry is opened, so that hundreds of videos cost no more at the start than a few.
 * @returns the text of an HTML file, UTF-8
 */
export function writePage(facts: ReportFacts, parts: PageParts): string {
  const list = { ...facts, entries: facts.entries.map(({ detail: _, ...entry }) => entry) };
  const details = facts.entries.map(({ id, detail }) => dataBlock(`detail-${id}`, detail));
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy(parts)}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${escapeText(facts.title)} – vloc report</title>`,
    `<style>${parts.style}</style>`,
    '<noscript><p>This report is made by a script inside this file; allow scripts to see it.</p></noscript>',
    '<div id="page"></div>',
    dataBlock('facts', list),
    ...details,
    `<script>${parts.script}</script>`,
    '</html>\n',
  ].join('\n');
}

/** Nothing but what is inside the file, and media beside it; no text can become markup or code. */
function policy({ script, style }: PageParts): string {
  return [
    "default-src 'none'",
    `script-src '${digest(script)}'`,
    `style-src '${digest(style)}'`,
    "media-src 'self' file:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

/** Source: Content Security Policy Level 3, "hash-source". */
function digest(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** Inside a script element only `<` can end it or open a comment. */
function dataBlock(id: string, data: unknown): string {
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  return `<script type="application/json" id="${id}">${json}</script>`;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** In the published tool both lie beside this module; a checkout that runs its sources takes those of its build. */
const FOLDER = import.meta.url.endsWith('.ts') ? '../../../dist/' : './';

/** @throws Error with ENOENT when a checkout was never built */
export async function readPageParts(): Promise<PageParts> {
  const read = (name: string) => readFile(new URL(FOLDER + name, import.meta.url), 'utf8');
  const [script, style] = await Promise.all([read('report-page.js'), read('report-page.css')]);
  return { script, style };
}
