/** Script and style of the page, from where the build has put them. */
import { readFile } from 'node:fs/promises';
import type { PageParts } from './html.ts';

/** In the published tool both lie beside this module; a checkout that runs its sources takes those of its build. */
const FOLDER = import.meta.url.endsWith('.ts') ? '../../../dist/' : './';

/** @throws Error with ENOENT when a checkout was never built */
export async function readPageParts(): Promise<PageParts> {
  const read = (name: string) => readFile(new URL(FOLDER + name, import.meta.url), 'utf8');
  const [script, style] = await Promise.all([read('report-page.js'), read('report-page.css')]);
  return { script, style };
}
