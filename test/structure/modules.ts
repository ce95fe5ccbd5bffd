/** The source files of the project and their imports, read by a parser instead of the compiler that runs them. */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Import {
  readonly specifier: string;
  /** Only for relative imports: the path from the root of the project. */
  readonly target: string | null;
  /** `type` is removed before anything runs; `lazy` is `import()`. */
  readonly manner: 'type' | 'eager' | 'lazy';
}

export interface Module {
  /** From the root of the project, with forward slashes. */
  readonly path: string;
  /** The folder directly below `src` or `test`. */
  readonly folder: string;
  readonly text: string;
  readonly lines: number;
  readonly imports: readonly Import[];
}

/** Returns the paths of all files below a folder of the project, from its root, sorted. */
export function listFiles(folder: string): string[] {
  const entries = readdirSync(posix.join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => posix.relative(ROOT, posix.join(entry.parentPath, entry.name)))
    .sort();
}

/** Reads and parses every TypeScript file below `src` or `test`. Throws if a file cannot be parsed. */
export function readModules(top: 'src' | 'test'): Module[] {
  return listFiles(top)
    .filter((path) => path.endsWith('.ts'))
    .map(readModule);
}

export function countLines(path: string): number {
  return readText(path).split('\n').length - 1;
}

function readText(path: string): string {
  return readFileSync(posix.join(ROOT, path), 'utf8');
}

function readModule(path: string): Module {
  const text = readText(path);
  return {
    path,
    folder: path.split('/').at(1) ?? '',
    text,
    lines: countLines(path),
    imports: findImports(path, text),
  };
}

/** Returns all imports and re-exports of one file. */
export function findImports(path: string, text: string): Import[] {
  const { module, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  const found: [string, Import['manner']][] = [];
  for (const { entries, moduleRequest } of module.staticImports) {
    const erased = entries.length > 0 && entries.every((entry) => entry.isType);
    found.push([moduleRequest.value, erased ? 'type' : 'eager']);
  }
  for (const { moduleRequest, isType } of module.staticExports.flatMap(({ entries }) => entries)) {
    if (moduleRequest) found.push([moduleRequest.value, isType ? 'type' : 'eager']);
  }
  for (const { moduleRequest } of module.dynamicImports) {
    const source = text.slice(moduleRequest.start, moduleRequest.end);
    found.push([source.replace(/^['"`]|['"`]$/g, ''), 'lazy']);
  }
  return found.map(([specifier, manner]) => ({
    specifier,
    manner,
    target: specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : null,
  }));
}

/** Returns the npm package name of an import, or null for a file or a built-in module of Node. */
export function packageOf({ specifier }: Import): string | null {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return null;
  const [scope = '', name = ''] = specifier.split('/');
  return scope.startsWith('@') ? `${scope}/${name}` : scope;
}

/** Returns the first cycle of files that import each other in any manner, or null. */
export function findCycle(modules: readonly Pick<Module, 'path' | 'imports'>[]): string[] | null {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const finished = new Set<string>();
  const trail: string[] = [];

  function visit(path: string): string[] | null {
    const start = trail.indexOf(path);
    if (start >= 0) return [...trail.slice(start), path];
    if (finished.has(path)) return null;
    trail.push(path);
    for (const { target } of byPath.get(path)?.imports ?? []) {
      const cycle = target === null ? null : visit(target);
      if (cycle !== null) return cycle;
    }
    trail.pop();
    finished.add(path);
    return null;
  }

  for (const { path } of modules) {
    const cycle = visit(path);
    if (cycle !== null) return cycle;
  }
  return null;
}
