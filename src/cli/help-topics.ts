/** Topics of `vloc help`, each made from the table it speaks of. */

import { EXIT_CODES } from '../errors/exit-codes.ts';
import { ENVIRONMENT } from '../profiles/environment.ts';

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

function environmentText(): string {
  const rows = Object.entries(ENVIRONMENT).map(([name, meaning]) => `  ${name.padEnd(20)} ${meaning}`);
  return `Environment variables; a flag wins over them, they win over the configuration\n${rows.join('\n')}\n`;
}
