/** The HTML report: facts, script and style in one file that opens from disk and loads nothing from the network. */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { escapeText } from 'entities';
import type { ReportFacts } from './page-facts.ts';

/** The built script and style of the page. */
export interface PageParts {
  readonly script: string;
  readonly style: string;
}

/**
 * Writes the page. The list is one block of JSON, and the detail of each entry another one that the page reads when the entry
 * is opened, so that a page with hundreds of videos opens as fast as one with a few.
 * @returns the text of an HTML file, UTF-8
 */
export function writePage(facts: ReportFacts, parts: PageParts): string {
  const { places, ...rest } = facts;
  const entries = facts.entries.map(({ detail: _, ...entry }) => entry);
  const list = { ...rest, entries, files: facts.files.map((file) => ({ ...file, text: file.text && '' })) };
  const texts = facts.files.map(({ text }, at) => dataBlock(`text-${at}`, text));
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
    dataBlock('places', places),
    ...details,
    ...texts,
    `<script>${parts.script}</script>`,
    '</html>\n',
  ].join('\n');
}

/** Allows only the content of the file and media beside it; text can never become markup or code. */
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

/** Escapes `<`, which alone could end a script element or start a comment. */
function dataBlock(id: string, data: unknown): string {
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  return `<script type="application/json" id="${id}">${json}</script>`;
}

/** In the published package both files are beside this module; sources use those of the build. */
const FOLDER = import.meta.url.endsWith('.ts') ? '../../../dist/' : './';

/** Reads script and style. @throws Error with ENOENT if a checkout was never built */
export async function readPageParts(): Promise<PageParts> {
  const read = (name: string) => readFile(new URL(FOLDER + name, import.meta.url), 'utf8');
  const [script, style] = await Promise.all([read('report-page.js'), read('report-page.css')]);
  return { script, style };
}
