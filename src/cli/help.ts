/** The text after the options in a help text, and the topics of `vloc help`, made from the tables that they describe. */

import { EXIT_CODES } from '../base/exit-codes.ts';
import type { Command } from '../commands/context/command.ts';
import { ENVIRONMENT } from '../profiles/environment.ts';
import { wrapProse } from './terminal/wrap.ts';

/**
 * Examples and notes of one command.
 * @param wrap breaks a paragraph into lines; examples stay as they are, to be copied
 */
export function commandHelp(command: Command, wrap: (paragraph: string) => string): string {
  const parts: string[] = [];
  if (command.examples.length > 0) {
    const rows = command.examples.map((example) => `  # ${example.explains}\n  $ ${example.command}`);
    parts.push(`Examples:\n${rows.join('\n\n')}`);
  }
  for (const note of command.notes ?? []) parts.push(wrap(note));
  return `\n${parts.join('\n\n')}\n`;
}

/** The end of the root help. */
export function rootHelp(): string {
  const topics = HELP_TOPICS.map((topic) => `  ${topic.name.padEnd(12)} ${topic.summary}`);
  return `
Help topics (vloc help TOPIC):
${topics.join('\n')}

Example:
  $ vloc localize talk.mp4 --to es

With nothing configured, vloc runs the whole service on this machine: no account, and your media stay here.
`;
}

interface HelpTopic {
  readonly name: string;
  readonly summary: string;
  readonly text: () => string;
}

export const HELP_TOPICS: readonly HelpTopic[] = [
  { name: 'exit-codes', summary: 'exit codes, for scripts', text: exitCodeText },
  { name: 'environment', summary: 'environment variables that vloc reads', text: environmentText },
];

/** The topic of that name, or null. */
export function findTopic(name: string): HelpTopic | null {
  return HELP_TOPICS.find((topic) => topic.name === name) ?? null;
}

function exitCodeText(): string {
  const rows = Object.values(EXIT_CODES).map(({ code, meaning, again }) =>
    `  ${String(code).padStart(3)}  ${meaning.padEnd(54)} ${again}`.trimEnd(),
  );
  return `Exit codes                                                    run again?\n${rows.join('\n')}\n`;
}

/** Columns of a usual terminal. */
const PAGE_WIDTH = 80;

function environmentText(): string {
  const width = Math.max(...Object.keys(ENVIRONMENT).map((name) => name.length));
  const rows = Object.entries(ENVIRONMENT).map(
    ([name, meaning]) => `  ${name.padEnd(width)}  ${wrapProse(meaning, PAGE_WIDTH, width + 4)}`,
  );
  return `Environment variables; flags override them, they override configuration files\n${rows.join('\n')}\n`;
}
