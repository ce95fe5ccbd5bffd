/** The manual page, vloc(1), out of the same tables as the help. Source: man-pages(7), groff_man(7). */

import { GLOBAL_OPTIONS } from '../src/cli/global-options.ts';
import { writtenFlags } from '../src/cli/options.ts';
import { VERSION } from '../src/cli/version.ts';
import type { Command, Operands, OptionTable } from '../src/commands/command.ts';
import { EXIT_CODES } from '../src/errors/exit-codes.ts';
import { type CalledCommand, COMMANDS } from '../src/commands/tree.ts';
import { ENVIRONMENT } from '../src/profiles/environment.ts';

/** When the text of this page's own was changed last. Source: man-pages(7), "Title line". */
const REVISED = '2026-11-21';

const INTRODUCTION = [
  'Give it a video, get it back in other languages: vloc separates the voice from the background, recognizes what is said, translates it, speaks it on the times of the original and puts everything together again. Each of the steps is a command of its own.',
  'With nothing configured, the whole service runs on this machine: no account, and the media stay here. A profile makes runs use a service elsewhere.',
  'Data go to standard output, everything else to standard error.',
];

const FILES: readonly (readonly [string, string])[] = [
  [
    '~/.config/vloc/profiles.json',
    'profiles: services, keys, and where their secrets are; VLOC_CONFIG_DIR chooses another folder',
  ],
  ['vloc.config.json', 'settings of a project, in the working directory or above it; holds no secrets'],
  [
    '~/.local/state/vloc/',
    'records of jobs and uploads, and everything of the embedded service; VLOC_STATE_DIR chooses another folder',
  ],
];

interface LoadedCommand extends CalledCommand {
  readonly command: Command;
}

export async function manualPage(): Promise<string> {
  const commands = await Promise.all(
    COMMANDS.map(async (called) => ({ ...called, command: await called.leaf.load() })),
  );
  const parts = [
    `.\\" Made by \`npm run generate\`; changes here are lost.`,
    `.TH VLOC 1 "${REVISED}" "vloc ${VERSION}" "User Commands"`,
    section('NAME', ['vloc \\- video localization from the command line']),
    section('SYNOPSIS', ['.B vloc', '.I command', '.RI [ options ]', '.RI [ operands ]']),
    section(
      'DESCRIPTION',
      INTRODUCTION.flatMap((text, at) => (at === 0 ? [prose(text)] : ['.PP', prose(text)])),
    ),
    section('COMMANDS', commands.flatMap(commandRows)),
    section('OPTIONS OF EVERY COMMAND', optionRows(GLOBAL_OPTIONS)),
    section('EXIT STATUS', Object.values(EXIT_CODES).flatMap(exitRow)),
    section(
      'ENVIRONMENT',
      Object.entries(ENVIRONMENT).flatMap(([name, text]) => entry(bold(name), text)),
    ),
    section(
      'FILES',
      FILES.flatMap(([path, text]) => entry(italic(path), text)),
    ),
    // The heading stands for the first break between paragraphs.
    section('EXAMPLES', commands.flatMap(exampleRows).slice(1)),
    section('SEE ALSO', ['.BR ffmpeg (1)']),
  ];
  return `${parts.join('\n')}\n`;
}

function section(title: string, rows: readonly string[]): string {
  return [`.SH ${title}`, ...rows].join('\n');
}

function commandRows({ words, leaf, command }: LoadedCommand): string[] {
  const operands = command.operands === undefined ? '' : ` ${writtenOperands(command.operands)}`;
  const about =
    command.operands === undefined ? [] : entry(italic(command.operands.name), command.operands.help);
  const notes = (command.notes ?? []).flatMap((note) => ['.PP', prose(note)]);
  return [
    `.SS ${literal(`vloc ${words.join(' ')}${operands}`)}`,
    prose(`${leaf.summary.charAt(0).toUpperCase()}${leaf.summary.slice(1)}.`),
    ...about,
    ...optionRows(command.options),
    ...notes,
  ];
}

function writtenOperands({ name, count, written }: Operands): string {
  if (written !== undefined) return written;
  return { one: `<${name}>`, many: `<${name}...>`, any: `[${name}...]` }[count];
}

function optionRows(table: OptionTable): string[] {
  return Object.entries(table).flatMap(([name, spec]) => {
    const choices = spec.type === 'choice' ? ` (choices: ${spec.choices.join(', ')})` : '';
    return entry(bold(writtenFlags(name, spec)), `${spec.help}${choices}`);
  });
}

function exitRow({ code, meaning, again }: { code: number; meaning: string; again: string }): string[] {
  return entry(bold(String(code)), again === '' ? meaning : `${meaning}; run again? ${again}`);
}

function exampleRows({ command }: LoadedCommand): string[] {
  return command.examples.flatMap(({ command: line, explains }) => [
    '.PP',
    prose(`${explains.charAt(0).toUpperCase()}${explains.slice(1)}:`),
    '.RS 4',
    '.nf',
    guard(literal(line)),
    '.fi',
    '.RE',
  ]);
}

/** A term with its text. */
function entry(term: string, text: string): string[] {
  return ['.TP', term, prose(text)];
}

function bold(text: string): string {
  return `\\fB${literal(text)}\\fR`;
}

function italic(text: string): string {
  return `\\fI${literal(text)}\\fR`;
}

/** Longer lines are hard to compare. Source: mandoc(1), "Style suggestions". */
const LINE_WIDTH = 80;

/** Running text, broken at blanks: troff fills it anew. No line may look like a request. */
function prose(text: string): string {
  const lines: string[] = [];
  for (const word of literal(text).split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > LINE_WIDTH) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.map(guard).join('\n');
}

function guard(line: string): string {
  return line.replace(/^(?=[.'])/, '\\&');
}

/** Text that troff prints as it is, with hyphens that can be copied. */
function literal(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga');
}
