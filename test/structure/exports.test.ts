/** What files export: nothing that no other file uses, and no type of the source by a name that another type has. */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';
import { listFiles } from './modules.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What programs import: used outside. */
const PUBLIC = ['src/client/index.ts', 'src/service/index.ts'];

const FOLDERS = ['src', 'test', 'bench', 'docs', 'release', 'build', 'bin', 'action'];

/** Every script, also the settings of tools in the folder of the project. */
const paths = [...FOLDERS.flatMap(listFiles), ...readdirSync(ROOT)].filter((path) => /\.[jt]s$/.test(path));

interface File {
  readonly path: string;
  readonly text: string;
  readonly module: ReturnType<typeof parseSync>['module'];
}

const readFile = (path: string): File => {
  const text = readFileSync(posix.join(ROOT, path), 'utf8');
  return { path, text, module: parseSync(path, text).module };
};

interface Exported {
  readonly path: string;
  readonly name: string;
  /** `again` is exported from another file. */
  readonly kind: 'value' | 'type' | 'again';
}

function exportsOf({ path, text, module }: File): readonly Exported[] {
  const isClass = (name: string) => new RegExp(`^export (?:abstract )?class ${name}\\b`, 'm').test(text);
  return module.staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ exportName: { name }, isType, moduleRequest }) => {
      if (name === null) return [];
      const kind = moduleRequest ? 'again' : isType || isClass(name) ? 'type' : 'value';
      return [{ path, name, kind }];
    });
}

/** Exports, as `path#name`, that a file imports or exports again. A lazy import uses each export that the file names. */
function usesOf({ path, text, module }: File, exported: readonly Exported[]): readonly string[] {
  const targetOf = (specifier: string) => posix.join(posix.dirname(path), specifier);
  const eager = module.staticImports.flatMap(({ entries, moduleRequest }) =>
    entries.map(({ importName }) => ({ target: targetOf(moduleRequest.value), name: importName.name })),
  );
  const again = module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest, importName }) =>
      moduleRequest ? [{ target: targetOf(moduleRequest.value), name: importName.name }] : [],
    ),
  );
  const lazy = [...text.matchAll(/import\(\s*'(\.[^']+)'\s*\)/g)].map(([, found = '']) => targetOf(found));
  const whole = [...eager, ...again].filter(({ name }) => name === null).map(({ target }) => target);
  const named = exported
    .filter((entry) => [...lazy, ...whole].includes(entry.path))
    .filter(({ name }) => new RegExp(`\\b${name}\\b`).test(text))
    .map((entry) => `${entry.path}#${entry.name}`);
  const single = [...eager, ...again].flatMap(({ target, name }) => (name ? [`${target}#${name}`] : []));
  return [...single, ...named];
}

/** Exports that no file uses. */
function findUnused(files: readonly File[]): readonly string[] {
  const exported = files.flatMap(exportsOf);
  const uses = new Set(files.flatMap((file) => usesOf(file, exported)));
  return exported
    .filter(({ path, name }) => !PUBLIC.includes(path) && !uses.has(`${path}#${name}`))
    .map(({ path, name }) => `${path}: ${name}`);
}

const files = paths.map(readFile);

describe('exports', () => {
  it('are used by another file', () => {
    expect(findUnused(files)).toEqual([]);
  });

  it('of types have a name of their own in the source', () => {
    const types = files
      .filter(({ path }) => path.startsWith('src/'))
      .flatMap(exportsOf)
      .filter(({ kind }) => kind === 'type');
    const shared = [...Map.groupBy(types, ({ name }) => name)].filter(([, found]) => found.length > 1);
    expect(shared.map(([name, found]) => `${name}: ${found.map(({ path }) => path).join(', ')}`)).toEqual([]);
  });
});

describe('the search for unused exports', () => {
  const unusedIn = (texts: Readonly<Record<string, string>>) =>
    findUnused(
      Object.entries(texts).map(([path, text]) => ({ path, text, module: parseSync(path, text).module })),
    );

  it.each([
    'export const a = 1;',
    'export function a() {}',
    'export abstract class a {}',
    'export interface a {}',
    'export const { a } = process.env;',
    'const a = 1; export { a };',
    "export { a } from './c.ts';",
  ])('finds %s', (text) => {
    expect(unusedIn({ 'bench/a.ts': text, 'bench/b.ts': "import { b } from './a.ts';" })).toEqual([
      'bench/a.ts: a',
    ]);
  });

  it.each([
    "import { a } from './a.ts';",
    "import { a as b } from './a.ts';",
    "import type { a } from './a.ts';",
    "import * as all from './a.ts'; all.a();",
    "const { a } = await import('./a.ts');",
  ])('accepts the use of %s', (text) => {
    expect(unusedIn({ 'bench/a.ts': 'export const a = 1;', 'bench/b.ts': text })).toEqual([]);
  });
});
