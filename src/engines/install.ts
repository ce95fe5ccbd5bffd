/** Installing what is missing with the system's own package manager: a plan first, then its commands. */
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { ENGINES, type System } from './catalog.ts';
import { ChildFailure } from './child-failure.ts';
import type { Privilege } from './system.ts';

export interface InstallFacts {
  readonly system: System | null;
  readonly privilege: Privilege;
  /** Names of engines in the catalog that are missing. */
  readonly missing: readonly string[];
  /** Whether the lists of packages are recent; matters on Debian. */
  readonly freshLists: boolean;
}

export interface InstallPlan {
  /** Commands in order, each with its arguments; empty when there is nothing to do or nothing can be done. */
  readonly commands: readonly (readonly string[])[];
  /** Names of the engines that the commands install. */
  readonly engines: readonly string[];
  /** Engines that this plan cannot install, with the reason. */
  readonly impossible: readonly { readonly engine: string; readonly reason: string }[];
  /** Whether a command will ask for a password at the terminal. */
  readonly asksPassword: boolean;
}

/** What installs packages on each system; the manager of the Mac must not run as root. */
const MANAGERS: Record<System, { readonly install: readonly string[]; readonly root: boolean }> = {
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

/** What to run on this system so that nothing is missing. Pure. */
export function planInstall(facts: InstallFacts): InstallPlan {
  const { system } = facts;
  const missing = ENGINES.filter((engine) => facts.missing.includes(engine.name));
  const packaged = missing.filter((engine) => system !== null && engine.install[system] !== undefined);
  const impossible = missing
    .filter((engine) => !packaged.includes(engine))
    .map((engine) => ({ engine: engine.name, reason: reasonFor(engine.packages.length > 0, system) }));
  const packages = system === null ? [] : packaged.flatMap((engine) => engine.install[system] ?? []);
  if (system === null || packages.length === 0) {
    return { commands: [], engines: [], impossible, asksPassword: false };
  }
  const manager = MANAGERS[system];
  const update = system === 'debian' && !facts.freshLists ? [['apt-get', 'update', '-q']] : [];
  const elevation = manager.root ? ELEVATION[facts.privilege] : [];
  return {
    commands: [...update, [...manager.install, ...packages]].map((command) => [...elevation, ...command]),
    engines: packaged.map((engine) => engine.name),
    impossible,
    asksPassword: manager.root && facts.privilege === 'password',
  };
}

/** Without any right the commands are still worth showing: somebody with more can run them. */
const ELEVATION: Record<Privilege, readonly string[]> = {
  root: [],
  sudo: ['sudo', '-n'],
  password: ['sudo'],
  none: ['sudo'],
};

function reasonFor(comesWithVloc: boolean, system: System | null): string {
  if (comesWithVloc)
    return 'it comes with vloc but has no build for this machine, or was not installed: install vloc again';
  return system === null
    ? 'this system is not known; install it by hand and make sure that it is on the PATH'
    : 'the package manager of this system does not offer it; install it by hand';
}

/** A command as it would be typed. */
export function showCommand(command: readonly string[]): string {
  return command
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}

/**
 * Runs the commands of a plan one after the other, in the foreground, so that sudo can ask.
 * @param run.onLine takes each line that they write
 * @throws ChildFailure of the first that fails; the signal's reason when cancelled
 */
export async function runInstall(
  plan: InstallPlan,
  run: { onLine: (line: string) => void; signal: AbortSignal },
): Promise<void> {
  const { execa } = await import('execa');
  for (const [program = '', ...args] of plan.commands) {
    let lastLine = '';
    const lines = new PassThrough();
    createInterface({ input: lines }).on('line', (line) => {
      lastLine = line;
      run.onLine(line);
    });
    const child = execa(program, args, {
      stdin: 'inherit',
      all: true,
      buffer: false,
      reject: false,
      extendEnv: false,
      env: managerEnvironment(process.env),
      cancelSignal: run.signal,
      // A package manager that is killed leaves a half-configured system: it is asked to end, and waited for.
      forceKillAfterDelay: false,
    });
    child.all.pipe(lines);
    const result = await child;
    run.signal.throwIfAborted();
    if (result.exitCode === 0) continue;
    const end = { exitCode: result.exitCode ?? null, endedBy: result.signal ?? null, lastWords: lastLine };
    throw new ChildFailure(program, end);
  }
}

/** Package managers need their own settings (proxies, folders), but none of ours, which may be secrets. */
function managerEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('VLOC_')));
}
