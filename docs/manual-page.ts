/**
 * Makes the man page, vloc(1), from the same tables as the help; `npm pack` puts it into the package. Source: man-pages(7), groff_man(7).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { EXIT_CODES } from '../src/base/exit-codes.ts';
import { factsOf, type OptionTable } from '../src/base/option.ts';
import { writtenFlags } from '../src/cli/options.ts';
import { type CalledCommand, type Command, operandParts } from '../src/commands/context/command.ts';
import { GLOBAL_OPTIONS } from '../src/commands/context/global-options.ts';
import { VERSION } from '../src/commands/context/version.ts';
import { COMMANDS } from '../src/commands/tree.ts';
import { ENVIRONMENT } from '../src/profiles/environment.ts';

/** Date of the last change to the text in this file. Source: man-pages(7), "Title line". */
const REVISED = '2026-11-21';

const INTRODUCTION = [
  'vloc translates and dubs videos: it separates the voice from the background, recognizes the speech, translates it, speaks the translation at the original times and combines everything into a new video. Each of these steps is also a command.',
  'Without configuration, the whole service runs on this machine, without an account, and the media stay here. A profile selects a hosted service.',
  'Data is written to standard output, everything else to standard error.',
];

const FILES: readonly (readonly [string, string])[] = [
  [
    '~/.config/vloc/profiles.json',
    'profiles: services, keys, and where their secrets are stored; VLOC_CONFIG_DIR sets another folder',
  ],
  ['vloc.config.json', 'project settings, in the working directory or a parent folder; contains no secrets'],
  [
    '~/.local/state/vloc/',
    'records of jobs and uploads, and all data of the embedded service; VLOC_STATE_DIR sets another folder',
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
    `.\\" Generated from the tables of the program; do not edit.`,
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
    // The heading replaces the first paragraph break.
    section('EXAMPLES', commands.flatMap(exampleRows).slice(1)),
    section('SEE ALSO', ['.BR ffmpeg (1)']),
  ];
  return `${parts.join('\n')}\n`;
}

function section(title: string, rows: readonly string[]): string {
  return [`.SH ${title}`, ...rows].join('\n');
}

function commandRows({ words, leaf, command }: LoadedCommand): string[] {
  const operands = command.operands === undefined ? [] : Object.entries(operandParts(command.operands));
  const notes = (command.notes ?? []).flatMap((note) => ['.PP', prose(note)]);
  return [
    `.SS ${literal(['vloc', ...words, ...operands.map(([written]) => written)].join(' '))}`,
    prose(`${leaf.summary.charAt(0).toUpperCase()}${leaf.summary.slice(1)}.`),
    ...operands.flatMap(([written, help]) => entry(italic(nameOf(written)), help)),
    ...optionRows(command.options),
    ...notes,
  ];
}

/** `input` of `[input...]`. */
function nameOf(written: string): string {
  return written.replace(/^[[<]|(?:\.{3})?[\]>]$/g, '');
}

function optionRows(table: OptionTable): string[] {
  return Object.entries(table).flatMap(([name, option]) => {
    const facts = factsOf(option);
    const choices = facts.choices === undefined ? '' : ` (choices: ${facts.choices.join(', ')})`;
    return entry(bold(writtenFlags(name, facts)), `${facts.help}${choices}`);
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

/** A term with its description. */
function entry(term: string, text: string): string[] {
  return ['.TP', term, prose(text)];
}

function bold(text: string): string {
  return `\\fB${literal(text)}\\fR`;
}

function italic(text: string): string {
  return `\\fI${literal(text)}\\fR`;
}

/** Longer lines are hard to compare in a diff. Source: mandoc(1), "Style suggestions". */
const LINE_WIDTH = 80;

/** Formats text wrapped at spaces, which troff fills again. No line may look like a request. */
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

/** Escapes text so that troff prints it unchanged, with hyphens that can be copied. */
function literal(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga');
}

if (import.meta.main) {
  mkdirSync(new URL('../man/', import.meta.url), { recursive: true });
  writeFileSync(new URL('../man/vloc.1', import.meta.url), await manualPage());
}
