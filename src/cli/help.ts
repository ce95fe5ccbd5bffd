/** What stands behind the options in a help text. */
import type { Command } from '../context/command.ts';
import { HELP_TOPICS } from './help-topics.ts';

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
