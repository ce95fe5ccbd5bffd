/**
 * Commands that vloc prints for people to paste: called as the shell here finds vloc, for the service of this run, quoted.
 * Every command with values in it is built here. What the environment chose stays in the environment, so a pasted command
 * finds it there, and no secret ever becomes an argument.
 */
import type { Context, Io } from './context.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** What decides how a command is written. */
export interface Caller {
  readonly io: Pick<Io, 'env' | 'platform'>;
  readonly service: Context['service'];
}

/** The same, with the command that runs now. */
type RunningCaller = Caller & Pick<Context, 'commandLine'>;

/** How this tool is called here: in a checkout, and wherever npm started it, the shell knows no `vloc`. */
function programWords(env: Environment): readonly string[] {
  return env.npm_command === undefined ? ['vloc'] : ['npx', 'vloc'];
}

/** An argument as the shell takes it back: PowerShell on Windows, else a POSIX shell. */
export function quoteForShell(argument: string, platform: NodeJS.Platform): string {
  if (platform !== 'win32') {
    return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `'${argument.replaceAll("'", `'\\''`)}'`;
  }
  // PowerShell makes lists at commas, and splits words that begin with a hyphen at points and colons.
  const isPlain = /^[\w+:./\\=-]+$/.test(argument) && !/^-.*[.:]/.test(argument);
  return isPlain ? argument : `'${argument.replaceAll("'", "''")}'`;
}

/** `vloc WORDS…`, with the flags that chose the service of this run where the command talks to one. */
export function writeCommand(caller: Caller, words: readonly string[]): string {
  const whole = usesService(words) ? withService(words, caller.service) : words;
  return quoteAll(caller, [...programWords(caller.io.env), ...whole]);
}

/** Options that restart jobs, and those that leave the results to others. */
const NOT_ONWARD: readonly Part[] = [{ flag: '--fresh' }, { flag: '--detach' }];

/** The same command again, so that it goes on where this run ends, pays nothing twice and fetches the results. */
export function sameCommand(caller: RunningCaller): string {
  return writeCommand(caller, without(caller.commandLine, NOT_ONWARD));
}

/** The same command once more, paid again, replacing its results. */
export function redoCommand(caller: RunningCaller): string {
  const words = without(caller.commandLine, [{ flag: '--skip-existing' }]);
  return writeCommand(caller, withFlags(words, ['--fresh', '--clobber']));
}

/** What belongs to the stages before a gate; with --fresh it would be made and paid again. */
const BEFORE_GATE: readonly Part[] = [{ flag: '--stop-after', takesValue: true }, { flag: '--fresh' }];

/** The command behind a gate: the same one, from the subtitles that now lie beside the videos. */
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
 * A text with its commands made whole: those in backticks, and a text that is nothing but a command. What has no context
 * writes `vloc doctor`; what a person reads is `vloc doctor --profile prod`.
 */
export function completeCommands(text: string, caller: Caller): string {
  return text
    .replace(/`vloc ([^`]+)`/g, (_, written: string) => `\`${complete(written, caller)}\``)
    .replace(/^vloc ([\w -]+)$/, (_, written: string) => complete(written, caller));
}

function complete(written: string, { io, service }: Caller): string {
  const words = written.split(' ');
  const { profile, baseUrl } = serviceFlagsOf(words);
  const isWhole = !usesService(words) || (profile ?? baseUrl) !== undefined;
  const added = isWhole ? [] : serviceWords(service);
  const quoted = added.map((word) => quoteForShell(word, io.platform));
  return [...programWords(io.env), written, ...quoted].join(' ');
}

/** The flags that choose a service, as they stand on a command line. */
export function serviceFlagsOf(words: readonly string[]): Context['service'] {
  return { profile: valueBehind(words, '--profile'), baseUrl: valueBehind(words, '--base-url') };
}

interface Part {
  readonly flag: string;
  readonly takesValue?: boolean;
}

const SERVICE_PARTS: readonly Part[] = [
  { flag: '--profile', takesValue: true },
  { flag: '--base-url', takesValue: true },
];

/** Commands that work on this machine alone; the others may talk to a service. */
const LOCAL_COMMANDS =
  /^(engines|serve|schema|completion|help|batch (status|report)|profile (add|list|use|remove))\b/;

function usesService(words: readonly string[]): boolean {
  return !words.includes('--help') && !LOCAL_COMMANDS.test(words.join(' '));
}

/** With the flags of this service, and no others of their kind. */
function withService(words: readonly string[], service: Context['service']): readonly string[] {
  const { profile, baseUrl } = serviceFlagsOf(words);
  if (profile === service.profile && baseUrl === service.baseUrl) return words;
  return withWords(without(words, SERVICE_PARTS), serviceWords(service));
}

function serviceWords({ profile, baseUrl }: Context['service']): readonly string[] {
  return [
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
  ];
}

function withFlags(words: readonly string[], flags: readonly string[]): readonly string[] {
  return withWords(
    words,
    flags.filter((flag) => !optionsOf(words).includes(flag)),
  );
}

/** Behind `--` a flag would be an operand. */
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
    else if (part.takesValue === true && word === part.flag) at += 1;
  }
  return [...kept, ...words.slice(options.length)];
}

/** The last one counts, as for the parser. */
function valueBehind(words: readonly string[], flag: string): string | undefined {
  const options = optionsOf(words);
  const at = options.findLastIndex((word) => word === flag || word.startsWith(`${flag}=`));
  const word = options[at];
  return word === flag ? options[at + 1] : word?.slice(flag.length + 1);
}

function quoteAll({ io }: Caller, words: readonly string[]): string {
  return words.map((word) => quoteForShell(word, io.platform)).join(' ');
}
