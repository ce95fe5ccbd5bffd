/** Builds the parser from the command tree. Loads only the command that is called. */

import { Argument, CommanderError, Option, Command as Parser } from 'commander';
import { EXIT_CODES } from '../base/exit-codes.ts';
import { type Failure, usageFailure } from '../base/failure.ts';
import type { RawOptions } from '../base/option.ts';
import {
  type Command,
  decodeOptions,
  operandHelp,
  type ToolEffect,
  writeOperands,
} from '../commands/context/command.ts';
import type { Io } from '../commands/context/context.ts';
import { asSentence } from '../commands/context/format.ts';
import { GLOBAL_OPTIONS, type GlobalValues } from '../commands/context/global-options.ts';
import { OUTPUT_MODES } from '../commands/context/output/forms.ts';
import { VERSION } from '../commands/context/version.ts';
import {
  COMMAND_SECTIONS,
  COMMANDS,
  type CommandGroup,
  type CommandLeaf,
  type CommandRow,
} from '../commands/tree.ts';
import { nearestName } from '../protocol/nearest.ts';
import { commandHelp, findTopic, HELP_TOPICS, rootHelp } from './help.ts';
import { moveLeadingOptions } from './leading-options.ts';
import { addOptions, readOptions } from './options.ts';

export interface CalledInvocation {
  readonly type: 'command';
  readonly command: Command;
  readonly effect: ToolEffect | undefined;
  readonly operands: readonly string[];
  readonly options: RawOptions;
  readonly global: GlobalValues;
  /** Names of the options that were given on the command line. */
  readonly given: readonly string[];
}

type Invocation = { readonly type: 'answered'; readonly code: number } | CalledInvocation;

/**
 * Parses the arguments; prints help and version itself.
 * @throws Failure of category usage, with the nearest name if one is similar
 */
export async function parseArguments(given: readonly string[], io: Io): Promise<Invocation> {
  const argv = moveLeadingOptions(
    given.flatMap((argument) => (argument === '--help=all' ? argument.split('=') : [argument])),
  );
  const found: Found = { invocation: { type: 'answered', code: 0 }, isShortHelp: asksForShortHelp(argv) };
  const root = createParser('vloc', io)
    .description('Give it a video, get it back in other languages.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpCommand(false);
  root.addHelpText('after', rootHelp);
  const path = namedPath(argv);
  const rows = COMMAND_SECTIONS.flatMap(({ title, rows: those }) => those.map((row) => ({ title, row })));
  // All rows are needed only for the root help, also requested by an option before the name, and to suggest a name.
  const named = rows.filter(({ row }) => row.name === argv[0]);
  for (const { title, row } of named.length === 0 ? rows : named) {
    await addRow(root, row, title, path, io, found);
  }
  if (named.length === 0) addAnswers(root, io);
  if (argv.length === 0) {
    root.outputHelp();
    return found.invocation;
  }
  try {
    await root.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0 || error.code === 'commander.help') return { type: 'answered', code: 0 };
    throw parserFailure(explainMissing(error, parserOf(root, namedCommand(path))), path);
  }
  return found.invocation;
}

/** Fills in the result of the parser, whose actions return nothing. */
interface Found {
  invocation: Invocation;
  /** All options are there otherwise, so that a misspelled one is recognized. */
  readonly isShortHelp: boolean;
}

/** The word after `--help`, or the last one of `vloc help COMMAND`, that asks for every option. */
const WHOLE = 'all';

function asksForShortHelp(argv: readonly string[]): boolean {
  if (argv[0] === 'help') return argv.at(-1) !== WHOLE;
  return argv.some((word, at) => ['-h', '--help'].includes(word) && argv[at + 1] !== WHOLE);
}

function parserOf(root: Parser, words: readonly string[]): Parser {
  return words.reduce((parser, word) => parser.commands.find((each) => each.name() === word) ?? parser, root);
}

/** The parser names only the argument that is missing; this also says what it can be. */
function explainMissing(error: CommanderError, parser: Parser): CommanderError {
  if (error.code !== 'commander.missingArgument') return error;
  const first = parser
    .createHelp()
    .visibleArguments(parser)
    .find(({ required }) => required);
  if (first === undefined) return error;
  const { exitCode, code } = error;
  return new CommanderError(exitCode, code, `missing <${first.name()}>: ${first.description}`);
}

function createParser(name: string, io: Io): Parser {
  return (
    new Parser(name)
      .exitOverride()
      // A command and its subcommand may have options of the same name: those after the name belong to the subcommand.
      .enablePositionalOptions()
      .showSuggestionAfterError(true)
      .configureHelp({ helpWidth: Math.min(io.stdout.columns ?? 100, 100), showGlobalOptions: false })
      .configureOutput({ writeOut: (text) => io.stdout.write(text), writeErr: () => undefined })
  );
}

/** The arguments that are not options: the first ones name the command, and only its file is loaded. */
function namedPath(argv: readonly string[]): readonly string[] {
  const words = argv.filter((argument) => !argument.startsWith('-'));
  return words[0] === 'help' ? words.slice(1) : words;
}

async function addRow(
  parent: Parser,
  row: CommandRow,
  title: string,
  path: readonly string[],
  io: Io,
  found: Found,
): Promise<void> {
  const parser = createParser(row.name, io)
    .summary(row.summary)
    .description(asSentence(row.summary))
    .helpGroup(title);
  parent.addCommand(parser);
  // Commands that are not called need only a name and a summary: the root help is requested often.
  if (path[0] !== row.name) return;
  if ('load' in row) {
    await addCommand(parser, row, found);
    parser.helpCommand(false);
    for (const child of row.children ?? []) {
      const childParser = createParser(child.name, io)
        .summary(child.summary)
        .description(asSentence(child.summary));
      parser.addCommand(childParser);
      if (path.slice(1).includes(child.name)) await addCommand(childParser, child, found);
    }
    for (const group of row.groups ?? []) {
      const groupParser = createParser(group.name, io)
        .summary(group.summary)
        .description(asSentence(group.summary));
      parser.addCommand(groupParser);
      await addChildren(groupParser, group, wordsBehind(path, group.name), io, found);
    }
    return;
  }
  await addChildren(parser, row, path.slice(1), io, found);
}

async function addChildren(
  parser: Parser,
  group: CommandGroup,
  path: readonly string[],
  io: Io,
  found: Found,
): Promise<void> {
  parser
    .helpCommand(false)
    .allowExcessArguments()
    // The command is what is misspelled: its options are unknown for that reason only.
    .allowUnknownOption()
    .action(async () => {
      const [word] = parser.args;
      if (word?.startsWith('-') === true)
        throw new CommanderError(
          EXIT_CODES.usage.code,
          'commander.unknownOption',
          `unknown option '${word}'`,
        );
      if (word !== undefined) throw unknownCommand(word, group.children);
      parser.outputHelp();
    });
  for (const child of group.children) {
    const childParser = createParser(child.name, io)
      .summary(child.summary)
      .description(asSentence(child.summary));
    parser.addCommand(childParser);
    if (path[0] !== child.name) continue;
    if ('load' in child) await addCommand(childParser, child, found);
    else await addChildren(childParser, child, path.slice(1), io, found);
  }
}

/** The parser's own message, which it prints only for the root. */
function unknownCommand(word: string, rows: readonly CommandRow[]): CommanderError {
  const names = rows.map(({ name }) => name);
  const meant = nearestName(word, names);
  const hint = meant === null ? '' : ` (Did you mean ${meant}?)`;
  return new CommanderError(
    EXIT_CODES.usage.code,
    'commander.unknownCommand',
    `unknown command '${word}'${hint}`,
  );
}

/** The words after a word; options with their values may precede it. */
function wordsBehind(path: readonly string[], word: string): readonly string[] {
  const at = path.indexOf(word);
  return at < 0 ? [] : path.slice(at + 1);
}

/** With the options of every command, as many as fit on a screen of 24 rows. */
const MOST_OPTIONS = 15;

async function addCommand(parser: Parser, row: CommandLeaf, found: Found): Promise<void> {
  const command = await row.load();
  const { operands } = command;
  if (operands !== undefined) {
    parser.argument(writeOperands(operands), operandHelp(operands));
    if ('parts' in operands) showParts(parser, operands.parts);
  }
  const isShort = found.isShortHelp && Object.keys(command.options).length > MOST_OPTIONS;
  addOptions(parser, command.options, isShort);
  addOptions(parser, GLOBAL_OPTIONS, isShort);
  const more = parser.options.filter(({ hidden }) => hidden).length;
  const help = isShort
    ? `display help for command; --help ${WHOLE} shows ${more} more options`
    : 'display help for command';
  parser.addHelpOption(new Option('-h, --help', help).helpGroup('General:'));
  parser.addHelpText('after', () => {
    const help = parser.createHelp();
    return commandHelp(command, (text) => help.boxWrap(text, help.helpWidth ?? 80));
  });
  const below = [...(row.children ?? []), ...(row.groups ?? [])];
  parser.allowExcessArguments(operands === undefined && below.length > 0);
  parser.action((...received: unknown[]) => {
    const [word] = parser.args;
    if (operands === undefined && word !== undefined) throw unknownCommand(word, below);
    const given = operands === undefined ? [] : (received[0] ?? []);
    const values: RawOptions = parser.opts();
    found.invocation = {
      type: 'command',
      command,
      effect: row.tool,
      operands: operands === undefined ? [] : [given].flat().map(String),
      options: readOptions(command.options, values),
      global: decodeOptions(GLOBAL_OPTIONS, readOptions(GLOBAL_OPTIONS, values)),
      given: Object.keys(values).filter((name) => parser.getOptionValueSource(name) === 'cli'),
    };
  });
}

/** The help shows operands one by one; for the parser they are one argument, which the command reads. */
function showParts(parser: Parser, parts: Readonly<Record<string, string>>): void {
  parser.usage(`[options] ${Object.keys(parts).join(' ')}`);
  const shown = Object.entries(parts).map(([written, help]) => new Argument(written, help));
  parser.configureHelp({ ...parser.configureHelp(), visibleArguments: () => shown });
}

function addAnswers(root: Parser, io: Io): void {
  root
    .command('version')
    .summary('print the version')
    .helpGroup('More:')
    .action(() => {
      io.stdout.write(`${VERSION}\n`);
    });
  root
    .command('help [topic...]')
    .summary('show the help of a command or of a topic')
    .helpGroup('More:')
    .action((words: string[]) => {
      const topic = findTopic(words.join(' '));
      if (topic !== null) {
        io.stdout.write(topic.text());
        return;
      }
      const target = (words.at(-1) === WHOLE ? words.slice(0, -1) : words).reduce<Parser | undefined>(
        (parser, word) => parser?.commands.find((child) => child.name() === word),
        root,
      );
      if (target === undefined) {
        throw usageFailure(
          'UNKNOWN_TOPIC',
          `there is no help on "${words.join(' ')}"`,
          `Topics: ${HELP_TOPICS.map((each) => each.name).join(', ')}; commands: see \`vloc --help\`.`,
        );
      }
      target.outputHelp();
    });
}

/** Command names of other tools, with the command to use instead. */
const ALSO_CALLED: Readonly<Record<string, string>> = {
  login: 'Store a service and its key with `vloc profile add NAME`.',
  status: 'See a folder of results with `vloc batch status DIR`, and jobs with `vloc jobs list`.',
  list: 'List jobs with `vloc jobs list`.',
  transcribe: 'Transcribe a video with `vloc recognize VIDEO`.',
};

/** As other tools write it: `--json`. */
const OUTPUT_AS_OPTION = new RegExp(`^unknown option '--(${OUTPUT_MODES.join('|')})'$`);

function parserFailure(error: CommanderError, path: readonly string[]): Failure {
  const said = error.message.replace(/^error: /, '').replaceAll('\n', ' ');
  const message = said.replace(OUTPUT_AS_OPTION, '$& (Did you mean --output $1?)');
  const [word = ''] = path;
  const named = namedCommand(path);
  const isUnknown = error.code === 'commander.unknownCommand' && named.length === 0;
  const meant = isUnknown ? (ALSO_CALLED[word] ?? suggestBelow(word, message)) : null;
  return usageFailure(
    'USAGE',
    meant === null ? message : `unknown command '${word}'`,
    meant ?? `See \`${['vloc', ...named, '--help'].join(' ')}\`.`,
  );
}

/** Names the commands that have such a name below a group; null if the parser has a name at the top to suggest, or there is none. */
function suggestBelow(word: string, message: string): string | null {
  const lastOf = (words: readonly string[]) => words.at(-1) ?? '';
  const all = COMMANDS.filter(({ words }) => words.length > 1);
  const isNear = message.includes('Did you mean');
  const name = nearestName(
    word,
    all.map(({ words }) => lastOf(words)),
  );
  if (name === null || (isNear && name !== word)) return null;
  const calls = all
    .filter(({ words }) => lastOf(words) === name)
    .map(({ words }) => `\`vloc ${words.join(' ')}\``);
  return `Did you mean ${calls.join(' or ')}?`;
}

/** The leading words that name a command or subcommand. */
function namedCommand(path: readonly string[]): readonly string[] {
  const words: string[] = [];
  let rows: readonly CommandRow[] = COMMAND_SECTIONS.flatMap((section) => section.rows);
  for (const word of path) {
    const row = rows.find(({ name }) => name === word);
    if (row === undefined) break;
    words.push(word);
    rows = [...(row.children ?? []), ...('groups' in row ? (row.groups ?? []) : [])];
  }
  return words;
}
