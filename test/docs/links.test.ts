/** Links between the pages of the documentation. */
import { existsSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { listFiles } from '../structure/modules.ts';

const INDEX = 'docs/README.md';
const PAGES = [
  'README.md',
  'CHANGELOG.md',
  'src/README.md',
  ...['docs', 'bench', 'test', '.github'].flatMap(listFiles),
].filter((path) => path.endsWith('.md'));

const urlOf = (path: string) => new URL(`../../${path}`, import.meta.url);
const read = (path: string) => readFileSync(urlOf(path), 'utf8');

/** The anchors of a page, made from its headings as GitHub does. */
function anchorsOf(path: string): string[] {
  return [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Relative links of a page, as paths from the root of the project. */
function linksOf(page: string): { target: string; anchor: string }[] {
  const links = [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)/g)];
  return links.map(([, path = '', anchor = '']) => ({
    target: path === '' ? page : posix.join(posix.dirname(page), path),
    anchor,
  }));
}

it('every link leads to a file and a heading that exist', () => {
  const broken = PAGES.flatMap((page) =>
    linksOf(page)
      .filter(
        ({ target, anchor }) =>
          !existsSync(urlOf(target)) || (anchor !== '' && !anchorsOf(target).includes(anchor)),
      )
      .map(({ target, anchor }) => `${page} → ${target}#${anchor}`),
  );
  expect(broken).toEqual([]);
});

it('the index of docs/ lists every page', () => {
  const listed = linksOf(INDEX).map(({ target }) => target);
  const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== INDEX);
  expect(pages.filter((page) => !listed.includes(page))).toEqual([]);
});
