/** What files export: nothing that no other file uses, and no type by a name that another type has. */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';
import { listFiles } from './modules.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What programs import: used outside. */
const PUBLIC = ['src/client/index.ts', 'src/service/index.ts'];

const texts = new Map(
  ['src', 'test', 'bench', 'docs', 'bin']
    .flatMap(listFiles)
    .filter((path) => /\.[jt]s$/.test(path))
    .map((path) => [path, readFileSync(posix.join(ROOT, path), 'utf8')]),
);

interface Exported {
  readonly path: string;
  readonly name: string;
  readonly isType: boolean;
}

const EXPORT =
  /^export (?:async )?(?:abstract )?(function\*?|const|let|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm;

const exported: readonly Exported[] = [...texts].flatMap(([path, text]) =>
  path.startsWith('src/')
    ? [...text.matchAll(EXPORT)].map(([, kind = '', name = '']) => ({
        path,
        name,
        isType: ['interface', 'type', 'class'].includes(kind),
      }))
    : [],
);

/** `path#name` of everything that a file imports or exports again. A lazy import uses each export that the file names. */
function usesOf(path: string, text: string): readonly string[] {
  const { module } = parseSync(path, text);
  const targetOf = (specifier: string) => posix.join(posix.dirname(path), specifier);
  const eager = module.staticImports.flatMap(({ entries, moduleRequest }) =>
    entries.map(({ importName }) => `${targetOf(moduleRequest.value)}#${importName.name ?? '*'}`),
  );
  const again = module.staticExports.flatMap(({ entries }) =>
    entries.flatMap(({ moduleRequest, importName }) =>
      moduleRequest ? [`${targetOf(moduleRequest.value)}#${importName.name ?? '*'}`] : [],
    ),
  );
  const lazy = [...text.matchAll(/import\(\s*'(\.[^']+)'\s*\)/g)].map(([, found = '']) => targetOf(found));
  const whole = [...eager, ...again].filter((use) => use.endsWith('#*')).map((use) => use.slice(0, -2));
  const named = exported
    .filter((entry) => [...lazy, ...whole].includes(entry.path))
    .filter(({ name }) => new RegExp(`\\b${name}\\b`).test(text))
    .map((entry) => `${entry.path}#${entry.name}`);
  return [...eager, ...again, ...named];
}

const uses = new Set([...texts].flatMap(([path, text]) => usesOf(path, text)));

describe('exports', () => {
  it('are used by another file', () => {
    const unused = exported.filter(
      ({ path, name }) => !PUBLIC.includes(path) && !uses.has(`${path}#${name}`),
    );
    expect(unused.map(({ path, name }) => `${path}: ${name}`)).toEqual([]);
  });

  it('of types have a name of their own', () => {
    const places = Map.groupBy(
      exported.filter(({ isType }) => isType),
      ({ name }) => name,
    );
    const shared = [...places].filter(([, found]) => found.length > 1);
    expect(shared.map(([name, found]) => `${name}: ${found.map(({ path }) => path).join(', ')}`)).toEqual([]);
  });
});
