/**
 * Commands that vloc prints for users to paste: with the program name of this shell, for the service of this run, quoted.
 * Every command with values in it is built here. Settings from the environment stay there, so a pasted command
 * finds it there, and no secret ever becomes an argument.
 */
import type { Context, Io } from './context.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Parts of the context that determine how a command is printed. */
export interface Caller {
  readonly io: Pick<Io, 'env' | 'platform'>;
  readonly service: Context['service'];
}

/** The same, with the current command. */
type RunningCaller = Caller & Pick<Context, 'commandLine'>;

/** The program as this shell calls it: after a start by npm, `vloc` may not be in PATH. */
function programWords(env: Environment): readonly string[] {
  return env.npm_command === undefined ? ['vloc'] : ['npx', 'vloc'];
}

/** An argument quoted for PowerShell on Windows, else for a POSIX shell. */
export function quoteForShell(argument: string, platform: NodeJS.Platform): string {
  if (platform !== 'win32') {
    // As `ls` of GNU writes them: bash, zsh and ksh read it, and nothing in it acts on a terminal.
    if (CONTROLS.test(argument)) return `$'${argument.replace(SPECIAL, escapeForShell)}'`;
    return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
  }
  // PowerShell makes lists at commas, and splits words that begin with a hyphen at points and colons.
  const isPlain = /^[\w+:./\\=-]+$/.test(argument) && !/^-.*[.:]/.test(argument);
  return isPlain ? argument : `'${argument.replaceAll("'", "''")}'`;
}

const CONTROLS = /\p{Cc}/u;
const SPECIAL = /[\p{Cc}\\']/gu;

function escapeForShell(character: string): string {
  if (character === '\n') return '\\n';
  if (!CONTROLS.test(character)) return `\\${character}`;
  // Three octal digits of each byte: hexadecimal ones would go on into the next character.
  return [...Buffer.from(character)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}

/** `vloc WORDS…`, with the flags that chose the service of this run, if the command uses a service. */
export function writeCommand(caller: Caller, words: readonly string[]): string {
  const { service, io } = caller;
  const whole = usesService(words) ? withService(words, service) : withEngines(words, service);
  return quoteAll(caller, [...programWords(io.env), ...whole]);
}

/** Restarts jobs, so no continuation has it. */
const FRESH: Part = { flag: '--fresh' };
/** Options that a command omits that fetches results. */
const NOT_ONWARD: readonly Part[] = [FRESH, { flag: '--detach' }];

/** The same command again: pays nothing twice and downloads the results. */
export function sameCommand(caller: RunningCaller): string {
  return writeCommand(caller, without(caller.commandLine, NOT_ONWARD));
}

/**
 * The same command for the whole videos, after a sample.
 * @param isLong whether the service takes them only in parts, which a sample does not need
 */
export function wholeCommand(caller: RunningCaller, isLong: boolean): string {
  const words = without(caller.commandLine, [...NOT_ONWARD, { flag: '--sample', takesValue: 'optional' }]);
  return writeCommand(caller, isLong ? withFlags(words, ['--split']) : words);
}

/**
 * The command that continues this run: the same, or the `batch retry` that repeats it for some of its items.
 * @param isStopped whether it has more to request: then it does not wait either, if the run did not
 */
export function continueCommand(
  caller: RunningCaller & Pick<Context, 'repeatedBy'>,
  isStopped = false,
): string {
  const words = caller.repeatedBy ?? caller.commandLine;
  return writeCommand(caller, without(words, isStopped ? [FRESH] : NOT_ONWARD));
}

/** The same command once more, paid again, replacing its results. */
export function redoCommand(caller: RunningCaller): string {
  const words = without(caller.commandLine, [{ flag: '--skip-existing' }]);
  return writeCommand(caller, withFlags(words, ['--fresh', '--clobber']));
}

/** Options of the stages before a review; --fresh would redo and pay them again. */
const BEFORE_GATE: readonly Part[] = [{ flag: '--stop-after', takesValue: true }, FRESH];

/** The command after a review: continues from the subtitles beside the videos. */
export function goOnCommand(caller: RunningCaller): string {
  return writeCommand(caller, withFlags(without(caller.commandLine, BEFORE_GATE), ['--from-subtitles']));
}

/** A command in another folder. */
export function inFolder(caller: Caller, folder: string, command: string): string {
  // Older versions of PowerShell have no &&.
  const then = caller.io.platform === 'win32' ? ';' : ' &&';
  return `cd ${quoteForShell(folder, caller.io.platform)}${then} ${command}`;
}

/**
 * Completes commands in a text: those in backticks, or the whole text if it is a command. Code without context
 * writes `vloc doctor`; users read `vloc doctor --profile prod`.
 */
export function completeCommands(text: string, caller: Caller): string {
  return text
    .replace(/`vloc ([^`]+)`/g, (_, written: string) => `\`${complete(written, caller)}\``)
    .replace(/^vloc ([\w -]+)$/, (_, written: string) => complete(written, caller));
}

function complete(written: string, { io, service }: Caller): string {
  const words = written.split(' ');
  const { profile, baseUrl, engines } = serviceFlagsOf(words);
  const isWhole = (profile ?? baseUrl ?? engines) !== undefined;
  const needed = usesService(words) ? serviceWords(service) : engineWords(words, service);
  const added = isWhole ? [] : needed;
  const quoted = added.map((word) => quoteForShell(word, io.platform));
  return [...programWords(io.env), written, ...quoted].join(' ');
}

/** The flags of a command line that choose a service. */
export function serviceFlagsOf(words: readonly string[]): Context['service'] {
  return {
    profile: valueBehind(words, '--profile'),
    baseUrl: valueBehind(words, '--base-url'),
    engines: valueBehind(words, '--engines'),
  };
}

interface Part {
  readonly flag: string;
  /** `optional`: a word that does not begin with a hyphen, as the parser reads it. */
  readonly takesValue?: true | 'optional';
}

const SERVICE_PARTS: readonly Part[] = [
  { flag: '--profile', takesValue: true },
  { flag: '--base-url', takesValue: true },
  { flag: '--engines', takesValue: true },
];

/** Commands that work on this machine alone; the others may use a service. */
const LOCAL_COMMANDS =
  /^(engines|serve|schema|completion|help|batch (status|report)|profile (add|list|use|remove))\b/;

/** False for commands that work on this machine alone. */
export function usesService(words: readonly string[]): boolean {
  return !words.includes('--help') && !LOCAL_COMMANDS.test(words.join(' '));
}

/** Commands on this machine that use the engines. */
const ENGINE_COMMANDS = /^(engines|serve(?! (keys|control)))\b/;

/** The flag that chose the engines of this run, if the command uses them. */
function engineWords(words: readonly string[], { engines }: Context['service']): readonly string[] {
  const usesEngines = !words.includes('--help') && ENGINE_COMMANDS.test(words.join(' '));
  return usesEngines ? serviceWords({ engines }) : [];
}

function withEngines(words: readonly string[], service: Context['service']): readonly string[] {
  return valueBehind(words, '--engines') === undefined
    ? withWords(words, engineWords(words, service))
    : words;
}

/** Replaces the flags that choose a service. */
function withService(words: readonly string[], service: Context['service']): readonly string[] {
  const { profile, baseUrl, engines } = serviceFlagsOf(words);
  const isSame = profile === service.profile && baseUrl === service.baseUrl && engines === service.engines;
  if (isSame) return words;
  return withWords(without(words, SERVICE_PARTS), serviceWords(service));
}

function serviceWords({ profile, baseUrl, engines }: Context['service']): readonly string[] {
  return [
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
    ...(engines === undefined ? [] : ['--engines', engines]),
  ];
}

function withFlags(words: readonly string[], flags: readonly string[]): readonly string[] {
  return withWords(
    words,
    flags.filter((flag) => !optionsOf(words).includes(flag)),
  );
}

/** After `--` a flag would be an operand. */
function withWords(words: readonly string[], added: readonly string[]): readonly string[] {
  const options = optionsOf(words);
  return [...options, ...added, ...words.slice(options.length)];
}

function optionsOf(words: readonly string[]): readonly string[] {
  const end = words.indexOf('--');
  return end < 0 ? words : words.slice(0, end);
}

function without(words: readonly string[], parts: readonly Part[]): readonly string[] {
  const options = optionsOf(words);
  const kept: string[] = [];
  for (let at = 0; at < options.length; at += 1) {
    const word = options[at] ?? '';
    const part = parts.find(({ flag }) => word === flag || word.startsWith(`${flag}=`));
    if (part === undefined) kept.push(word);
    else if (word === part.flag && hasValue(part, options[at + 1])) at += 1;
  }
  return [...kept, ...words.slice(options.length)];
}

function hasValue({ takesValue }: Part, next: string | undefined): boolean {
  return takesValue === 'optional' ? next !== undefined && !next.startsWith('-') : takesValue === true;
}

/** The last one wins, as in the parser. */
function valueBehind(words: readonly string[], flag: string): string | undefined {
  const options = optionsOf(words);
  const at = options.findLastIndex((word) => word === flag || word.startsWith(`${flag}=`));
  const word = options[at];
  return word === flag ? options[at + 1] : word?.slice(flag.length + 1);
}

function quoteAll({ io }: Caller, words: readonly string[]): string {
  return words.map((word) => quoteForShell(word, io.platform)).join(' ');
}
