/** The help of every command, of every group of commands, and the help topics. */
import { COMMAND_ROWS, COMMANDS } from '../../../src/commands/tree.ts';
import type { Case } from '../stage.ts';

const commands = COMMANDS.map(({ words }) => words.join(' '));
const groups = COMMAND_ROWS.flatMap((row) => [
  ...('load' in row ? [] : [row.name]),
  ...('groups' in row ? (row.groups ?? []).map(({ name }) => `${row.name} ${name}`) : []),
]);

export const HELP: readonly Case[] = [
  '',
  '--help',
  'help exit-codes',
  'help environment',
  'help nonsense',
  ...groups.flatMap((words) => [words, `${words} --help`]),
  ...commands.map((words) => `${words} --help`),
].map((line) => ({ line }));
