/** The source files of the project and their imports, read by a parser instead of the compiler that runs them. */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'rolldown/utils';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Import {
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

/** Reads and parses every TypeScript file below a folder. Throws if a file cannot be parsed. */
export function readModules(top: 'src' | 'test/conformance'): Module[] {
  return listFiles(top)
    .filter((path) => path.endsWith('.ts'))
    .map(readModule);
}

function readModule(path: string): Module {
  const text = readFileSync(posix.join(ROOT, path), 'utf8');
  return {
    path,
    folder: path.split('/').at(1) ?? '',
    text,
    imports: findImports(path, text),
  };
}

/** Returns all imports and re-exports of one file. */
function findImports(path: string, text: string): Import[] {
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
