/** Commands with values are written in only one place, which quotes the values and adds the service of the run. */
import { parseSync, Visitor } from 'rolldown/utils';
import { expect, it } from 'vitest';
import { COMMAND_ROWS } from '../../src/commands/tree.ts';
import { readModules } from './modules.ts';

/** The only place that writes them. */
const HOME = 'src/commands/context/printed-command.ts';

/**
 * Files below `commands` may not import it. These files write an id or a name that was checked, between backticks, and
 * the end of every command adds the service of the run.
 */
const BELOW_COMMANDS: readonly string[] = [
  'src/batch/run/sources.ts',
  'src/client/jobs/wait.ts',
  'src/client/upload/send-file.ts',
  'src/media/export/fonts.ts',
  'src/profiles/resolve.ts',
];

const names = COMMAND_ROWS.map(({ name }) => name).join('|');

/** A text that ends in an incomplete command: the next part is a value. */
const OPEN_COMMAND = new RegExp(`\\bvloc (--?[\\w-]+( [\\w./:-]+)? )*(${names})\\b([^\`.,;:]|\\.\\w)*$`);

/** Returns template literals with a value in a command, as `path: literal`. */
function findCommands(path: string, text: string): string[] {
  const found: string[] = [];
  const visitor = new Visitor({
    TemplateLiteral({ quasis, start, end }) {
      const before = quasis.slice(0, -1).map(({ value }) => value.cooked ?? '');
      if (before.some((words) => OPEN_COMMAND.test(words))) found.push(`${path}: ${text.slice(start, end)}`);
    },
  });
  visitor.visit(parseSync(path, text).program);
  return found;
}

const pathOf = (found: string) => found.slice(0, found.indexOf(':'));

it('commands with values in them are written by printed-command.ts, or completed at the end', () => {
  const modules = readModules('src').filter(({ path }) => path !== HOME);
  const found = modules.flatMap(({ path, text }) => findCommands(path, text));
  expect(found.filter((each) => !BELOW_COMMANDS.includes(pathOf(each)))).toEqual([]);
  expect(found.filter((each) => !each.includes('\\`vloc '))).toEqual([]);
  expect([...new Set(found.map(pathOf))].sort()).toEqual(BELOW_COMMANDS);
});
