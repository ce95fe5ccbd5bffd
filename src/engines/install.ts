/** Installs missing engines with the system's package manager: detects the system, plans, then runs the commands. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { ChildFailure, ProgramMissing } from '../media/programs/failures.ts';
import type { Programs } from '../media/programs/programs.ts';
import { canonicalLanguage } from '../protocol/language-tag.ts';
import { scriptOf } from '../protocol/languages.ts';
import { ENGINES, FONTS, type OperatingSystem } from './catalog.ts';
import { BETWEEN } from './translate/apertium.ts';

interface InstallFacts {
  readonly system: OperatingSystem | null;
  readonly privilege: Privilege;
  /** Names of missing engines, as in the catalog. */
  readonly missing: readonly string[];
  /** Packages that were asked for: further pairs of languages, fonts. */
  readonly extra?: readonly string[];
  /** Whether the package lists are recent; only used on Debian. */
  readonly freshLists: boolean;
}

export interface InstallPlan {
  /** Commands in order, each with its arguments; empty if there is nothing to install. */
  readonly commands: readonly (readonly string[])[];
  /** Names of the engines that the commands install. */
  readonly engines: readonly string[];
  /** Engines that this plan cannot install, with the reason. */
  readonly impossible: readonly { readonly engine: string; readonly reason: string }[];
  /** Whether a command will ask for a password at the terminal. */
  readonly asksPassword: boolean;
}

/** How packages are installed on each system. Homebrew must not run as root. */
const MANAGERS: Record<OperatingSystem, { readonly install: readonly string[]; readonly root: boolean }> = {
  debian: {
    install: [
      'env',
      'DEBIAN_FRONTEND=noninteractive',
      'apt-get',
      'install',
      '-y',
      '-q',
      '--no-install-recommends',
    ],
    root: true,
  },
  fedora: { install: ['dnf', 'install', '-y'], root: true },
  arch: { install: ['pacman', '-S', '--needed', '--noconfirm'], root: true },
  macos: { install: ['brew', 'install'], root: false },
  windows: { install: ['winget', 'install', '--exact', '--accept-source-agreements'], root: false },
};

/** Plans the commands that install all missing engines, and further packages. */
export function planInstall(facts: InstallFacts): InstallPlan {
  const { system } = facts;
  const missing = ENGINES.filter((engine) => facts.missing.includes(engine.name));
  const packaged = missing.filter((engine) => system !== null && engine.install[system] !== undefined);
  const impossible = missing
    .filter((engine) => !packaged.includes(engine))
    .map((engine) => ({ engine: engine.name, reason: reasonFor(engine.packages.length > 0, system) }));
  const { extra = [] } = facts;
  const packages =
    system === null ? [] : [...packaged.flatMap((engine) => engine.install[system] ?? []), ...extra];
  if (system === null || packages.length === 0) {
    return { commands: [], engines: [], impossible, asksPassword: false };
  }
  const manager = MANAGERS[system];
  const update = system === 'debian' && !facts.freshLists ? [['apt-get', 'update', '-q']] : [];
  const elevation = manager.root ? ELEVATION[facts.privilege] : [];
  return {
    commands: [...update, [...manager.install, ...packages]].map((command) => [...elevation, ...command]),
    engines: [...packaged.map((engine) => engine.name), ...extra],
    impossible,
    asksPassword: manager.root && facts.privilege === 'password',
  };
}

/** Returns the packages with the fonts of languages; null if the system offers none. */
export function findFontPackages(languages: readonly string[], system: OperatingSystem): string[] | null {
  const packages = languages.map((language) => {
    const script = scriptOf(language) ?? '';
    return FONTS.find(({ scripts }) => scripts === null || scripts.includes(script))?.install[system];
  });
  if (packages.includes(undefined)) return null;
  return [...new Set(packages.flatMap((names) => names ?? []))];
}

/** A pair of languages as users write it: `eng-glg`, or `en-gl`. */
const PAIR = /^([a-z]{2,3})-([a-z]{2,3})$/;

/** Whether a text has the form of a pair. */
export function isPair(text: string): boolean {
  return PAIR.test(text);
}

/**
 * Finds the Debian package of a pair. Packages name languages by ISO 639-1 or ISO 639-3, in one of both orders.
 * @param names of the packages that exist; empty if they are not known
 * @returns null if there is no such package
 */
export function findPairPackage(pair: string, names: readonly string[]): string | null {
  if (names.length === 0) return `apertium-${pair}`;
  const wanted = languagesOf(pair);
  const found = names.filter((name) => languagesOf(name.slice('apertium-'.length)) === wanted);
  // Where both exist, the longer name is the newer one.
  return found.toSorted((one, other) => other.length - one.length)[0] ?? null;
}

/** The languages of a pair in a fixed order; the text itself if it is no pair. */
function languagesOf(pair: string): string {
  const [, ...codes] = PAIR.exec(pair) ?? [];
  if (codes.length === 0) return pair;
  return codes
    .map((code) => canonicalLanguage(code) ?? code)
    .sort()
    .join('-');
}

/**
 * Finds the packages that translate from English to a language: one pair, or two through a language in between.
 * @returns null if there are none
 */
export function findRoutePackages(target: string, names: readonly string[]): string[] | null {
  const find = (one: string, other: string) =>
    names.length === 0 ? null : findPairPackage(`${one}-${other}`, names);
  const direct = find('en', target);
  if (direct !== null) return [direct];
  for (const between of BETWEEN) {
    const [first, second] = [find('en', between), find(between, target)];
    if (first !== null && second !== null) return [first, second];
  }
  return null;
}

/** Returns the pairs of the packages with one of the languages of a pair, to suggest others. */
export function listNearPairs(pair: string, names: readonly string[]): string[] {
  const wanted = languagesOf(pair).split('-');
  return names
    .map((name) => name.slice('apertium-'.length))
    .filter(
      (other) =>
        PAIR.test(other) &&
        languagesOf(other)
          .split('-')
          .some((each) => wanted.includes(each)),
    );
}

/** Asks for the names of the packages of Apertium; empty if there are no lists of packages. */
export async function listPairPackages(
  programs: Programs,
  run: { readonly signal: AbortSignal; readonly folder: string },
): Promise<readonly string[]> {
  try {
    const names = (await programs.run('apt-cache', ['pkgnames', 'apertium-'], run))
      .toString('utf8')
      .split('\n');
    return names.filter((name) => PAIR.test(name.slice('apertium-'.length))).sort();
  } catch (error) {
    if (error instanceof ProgramMissing || error instanceof ChildFailure) return [];
    throw error;
  }
}

/** Commands are shown even if the user may not run them, so that an administrator can run them. */
const ELEVATION: Record<Privilege, readonly string[]> = {
  root: [],
  sudo: ['sudo', '-n'],
  password: ['sudo'],
  none: ['sudo'],
};

function reasonFor(comesWithVloc: boolean, system: OperatingSystem | null): string {
  if (comesWithVloc)
    return 'it comes with vloc but has no build for this machine, or was not installed: install vloc again';
  return system === null
    ? 'this system is unknown; install it by hand and make sure that it is on the PATH'
    : 'the package manager of this system does not offer it; install it by hand';
}

/** Returns a command as a user would type it. */
export function showCommand(command: readonly string[]): string {
  return command
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

/**
 * Runs the commands of a plan one after the other, in the foreground, so that sudo can ask for a password.
 * @param run.onLine receives each line of output
 * @throws ChildFailure of the first command that fails; the signal's reason when cancelled
 */
export async function runInstall(
  plan: InstallPlan,
  run: { onLine: (line: string) => void; signal: AbortSignal },
): Promise<void> {
  const { linesOf, startProgram } = await import('../media/programs/start.ts');
  for (const [program = '', ...args] of plan.commands) {
    let lastLine = '';
    const child = startProgram(program, args, {
      stdin: 'inherit',
      all: true,
      buffer: false,
      env: managerEnvironment(process.env),
      cancelSignal: run.signal,
      // Killing a package manager leaves a half-configured system, so it is asked to end and awaited.
      forceKillAfterDelay: false,
    });
    for await (const line of linesOf(child, 'all')) {
      lastLine = line;
      run.onLine(line);
    }
    const result = await child;
    run.signal.throwIfAborted();
    if (result.exitCode === 0) continue;
    const end = { exitCode: result.exitCode ?? null, endedBy: result.signal ?? null, lastWords: lastLine };
    throw new ChildFailure(program, end);
  }
}

/** Package managers need the environment (proxies, folders), but not vloc's own variables, which may be secrets. */
function managerEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('VLOC_')));
}

/** Linux systems by the ids in os-release. Derived distributions list their parents in ID_LIKE. */
const LINUX: Readonly<Record<string, OperatingSystem>> = {
  debian: 'debian',
  ubuntu: 'debian',
  fedora: 'fedora',
  rhel: 'fedora',
  arch: 'arch',
};

/**
 * Detects the system from the platform and, on Linux, the text of /etc/os-release. Returns null if no packages are
 * known for it.
 */
export function detectSystem(platform: NodeJS.Platform, osRelease: string): OperatingSystem | null {
  if (platform === 'darwin') return 'macos';
  if (platform === 'win32') return 'windows';
  const ids = [...osRelease.matchAll(/^(?:ID|ID_LIKE)=(.*)$/gm)].flatMap(([, value = '']) =>
    value.replaceAll('"', '').split(/\s+/),
  );
  return ids.map((id) => LINUX[id]).find((system) => system !== undefined) ?? null;
}

/** Reads /etc/os-release. Returns an empty string if there is none. */
export function readOsRelease(): string {
  try {
    return readFileSync('/etc/os-release', 'utf8');
  } catch {
    return '';
  }
}

/**
 * `root`: no sudo needed. `sudo`: works without a password. `password`: sudo asks for one. `none`: an administrator
 * must install.
 */
type Privilege = 'root' | 'sudo' | 'password' | 'none';

/** Detects how the system's package manager can be run. */
export async function detectPrivilege(sudo: string | null): Promise<Privilege> {
  if (process.getuid?.() === 0) return 'root';
  if (sudo === null) return 'none';
  const { startProgram } = await import('../media/programs/start.ts');
  const options = { stdio: 'ignore', timeout: 5_000, env: managerEnvironment(process.env) } as const;
  return (await startProgram(sudo, ['-n', 'true'], options)).exitCode === 0 ? 'sudo' : 'password';
}

/** Older lists contain versions that the mirrors have already replaced. */
const FRESH_MS = 24 * 3600 * 1000;

/** Whether Debian's package lists exist and are less than a day old. */
export function hasFreshLists(now: number, folder = '/var/lib/apt/lists'): boolean {
  try {
    const lists = readdirSync(folder).some((name) => /_Packages(\.\w+)?$/.test(name));
    return lists && now - statSync(folder).mtimeMs < FRESH_MS;
  } catch {
    return false;
  }
}
