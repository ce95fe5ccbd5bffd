/** The help of every command, of every group of commands, and the help topics. */
import { COMMAND_ROWS, COMMANDS, type CommandRow } from '../../../src/commands/tree.ts';
import type { Case } from '../stage.ts';

const commands = COMMANDS.map(({ words }) => words.join(' '));
const groups = COMMAND_ROWS.flatMap((row) => listGroups(row, []));

/** The words of the row and of what is below it, without commands. */
function listGroups(row: CommandRow, before: readonly string[]): string[] {
  const words = [...before, row.name];
  const below = 'load' in row ? (row.groups ?? []) : row.children;
  return ['load' in row ? [] : [words.join(' ')], ...below.map((each) => listGroups(each, words))].flat();
}

export const HELP: readonly Case[] = [
  '',
  '--help',
  'help exit-codes',
  'help environment',
  'help nonsense',
  ...groups.flatMap((words) => [words, `${words} --help`]),
  ...commands.map((words) => `${words} --help`),
].map((line) => ({ line }));
