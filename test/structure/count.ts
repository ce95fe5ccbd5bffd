/** `node test/structure/count.ts` prints the figures of "Before and after" in src/README.md that are counted in `src`. */
import { parseSync } from 'rolldown/utils';
import { type Import, type Module, readModules } from './modules.ts';

/** Where `localize` is declared; what the parser loads before that is the same for all commands. */
const LOCALIZE = 'src/commands/job-commands.ts';

const modules = readModules('src');

/** Lines that have more than a comment. */
function countCode({ path, text }: Module): number {
  const { comments } = parseSync(path, text);
  const code = comments.reduceRight(
    (rest, { start, end }) =>
      rest.slice(0, start) + rest.slice(start, end).replace(/[^\n]/g, '') + rest.slice(end),
    text,
  );
  return code.split('\n').filter((line) => line.trim() !== '').length;
}

/** The files that a file leads to, itself included, by imports of these manners. */
function countReached(path: string, manners: readonly Import['manner'][]): number {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const reached = new Set([path]);
  for (const each of reached) {
    for (const { target, manner } of byPath.get(each)?.imports ?? []) {
      if (target !== null && byPath.has(target) && manners.includes(manner)) reached.add(target);
    }
  }
  return reached.size;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const lazy = modules.map(({ imports }) => imports.filter(({ manner }) => manner === 'lazy').length);

for (const [name, value] of Object.entries({
  'source files': modules.length,
  lines: sum(modules.map(({ lines }) => lines)),
  'without comments and empty lines': sum(modules.map(countCode)),
  'files loaded at the start of `localize`': countReached(LOCALIZE, ['eager']),
  'files that `localize` can load': countReached(LOCALIZE, ['eager', 'lazy']),
  'lazy imports': sum(lazy),
  'files with lazy imports': lazy.filter((count) => count > 0).length,
})) {
  process.stdout.write(`${value} ${name}\n`);
}
