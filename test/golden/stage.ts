/** Where the cases of a group run: a service with small engines that all share, and a folder and state for each. */
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SYSTEM_RUNTIME } from '../../src/client/runtime.ts';
import { type Fault, type Faults, scriptFaults } from '../../src/service/index.ts';
import { expectDescribed } from '../commands/support/output-schemas.ts';
import { environmentOf } from '../commands/support/run-vloc.ts';
import { type Scene, startScene } from '../service/harness/scene.ts';
import { createSmallEngines, type SmallEngines } from '../service/harness/small-engines.ts';
import { makeFolder } from '../support/make-folder.ts';
import { type Ended, type Running, startMain } from '../support/run-main.ts';
import type { TestIoOptions } from '../support/test-io.ts';
import { normalize } from './normalize.ts';

/** One command line, and what must be there for it. */
export interface Case {
  /** The text after `vloc`, as it is typed; quotes are those of a shell. */
  readonly line: string;
  /** Name of the record. Default: the line with the name of the program. */
  readonly name?: string;
  /** Tells cases with the same line apart, and says what is special. */
  readonly when?: string;
  /** Removed from the environment if undefined. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string;
  readonly files?: Readonly<Record<string, string | Buffer>>;
  /** How the service misbehaves. */
  readonly faults?: readonly Fault[];
  /** Makes what the line needs. */
  readonly before?: (stage: Stage) => Promise<unknown>;
  /** Runs the line itself, for what does not end by itself. */
  readonly run?: (stage: Stage, words: readonly string[]) => Promise<Ended>;
  readonly io?: Partial<TestIoOptions>;
  /** Runs in the folder of the case before, which has prepared the same and has changed nothing that shows. */
  readonly again?: true;
  /** Work on several items ends in any order: lines of stderr are sorted, and each is recorded once. */
  readonly unordered?: true;
}

export interface Stage {
  readonly scene: Scene;
  readonly engines: SmallEngines;
  readonly folder: string;
  readonly env: Record<string, string>;
  path(name: string): string;
  write(name: string, content: string | Buffer): Promise<void>;
  run(line: string | readonly string[], options?: Partial<TestIoOptions>): Promise<Ended>;
  /** Begins a run that the caller ends. */
  start(words: readonly string[], options?: Partial<TestIoOptions>): Running;
  /** Replaces a name in the line by a text. */
  fill(name: string, value: string): void;
  /** A text that differs from run to run, and what is recorded for it. */
  hide(value: string, placeholder: string): void;
}

/** Waiting is cut short, and chance always falls the same way. */
export const QUICK: NonNullable<TestIoOptions['pace']> = {
  runtime: {
    sleep: (ms, signal) => SYSTEM_RUNTIME.sleep(Math.min(ms, 10), signal),
    random: () => 0.5,
    freeBytes: async () => null,
  },
};

/** The case in the folder of the one before, see `Case.again`. */
export const again = (each: Case): Case => ({ ...each, again: true });

/** Starts the service of a group; it ends with the test. */
export async function openStages(): Promise<(each: Case) => Promise<Ended>> {
  let current: Faults | null = null;
  const faults: Faults = {
    before: async (facts) => (await current?.before(facts)) ?? null,
    after: async (facts, answer) => (await current?.after(facts, answer)) ?? answer,
  };
  const engines = createMixedEngines();
  const scene = await startScene({ engines, faults, config: { attempts: 1, workers: 2 } });
  let last: OpenStage | undefined;
  return async (each) => {
    const stage = (each.again && last) || (await openStage(scene, engines, each.env ?? {}));
    last = stage;
    for (const [name, content] of Object.entries(each.files ?? {})) await stage.write(name, content);
    if (!each.again) await each.before?.(stage);
    current = each.faults === undefined ? null : scriptFaults([...each.faults], { clock: scene.clock });
    const words = splitWords(stage.fillIn(each.line));
    try {
      const options = { ...each.io, ...(each.stdin === undefined ? {} : { stdin: each.stdin }) };
      const ended = await (each.run?.(stage, words) ?? stage.run(words, options));
      await expectDescribed(words, ended);
      const clean = stage.clean(ended);
      return each.unordered === undefined ? clean : { ...clean, stderr: sortLines(clean.stderr) };
    } finally {
      current = null;
      engines.letGo();
      await stage.settle();
    }
  };
}

/** The small engines, which also take a real video for one of a second: to look at it is the work of others. */
function createMixedEngines(): SmallEngines {
  const small = createSmallEngines();
  const inspect: SmallEngines['inspect'] = async (file, signal) => {
    const isReal = (await readFile(file)).at(0) !== '{'.charCodeAt(0);
    if (!isReal) return small.inspect(file, signal);
    return {
      duration_seconds: 1,
      container: 'mp4',
      video: { codec: 'h264', width: 64, height: 48, frame_rate: 10 },
      audio: { codec: 'aac', sample_rate: 16_000, channels: 1 },
    };
  };
  return { ...small, inspect };
}

interface OpenStage extends Stage {
  clean(ended: Ended): Ended;
  settle(): Promise<unknown>;
  fillIn(line: string): string;
}

async function openStage(
  scene: Scene,
  engines: SmallEngines,
  env: Readonly<Record<string, string | undefined>>,
): Promise<OpenStage> {
  const folder = makeFolder();
  await mkdir(join(folder, 'bin'), { mode: 0o700 });
  const all: Record<string, string> = {
    HOME: folder,
    // No program of this machine: what is installed must not show.
    PATH: join(folder, 'bin'),
    ...environmentOf(scene, folder),
    VLOC_NO_KEYCHAIN: '1',
  };
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) delete all[name];
    else all[name] = value;
  }
  const hidden: [string, string][] = [
    [folder, '$DIR'],
    [process.cwd(), '$CHECKOUT'],
    [scene.credentials.key, 'vk_KEY'],
    [scene.credentials.secret, 'SECRET'],
  ];
  const begun: Promise<Ended>[] = [];
  const filled: [string, string][] = [];
  const path = (name: string) => join(folder, name);
  const start: Stage['start'] = (words, options = {}) => {
    const env = { ...all, ...options.env };
    const running = startMain(words, { cwd: folder, pace: QUICK, ...options, env });
    begun.push(running.ended);
    return running;
  };
  return {
    scene,
    engines,
    folder,
    env: all,
    path,
    async write(name, content) {
      await mkdir(dirname(path(name)), { recursive: true, mode: 0o700 });
      await writeFile(path(name), content);
      if (name.startsWith('bin/')) await chmod(path(name), 0o755);
      if (name.startsWith('config/')) await chmod(path(name), 0o600);
    },
    run: (line, options) => start(typeof line === 'string' ? splitWords(line) : line, options).ended,
    start,
    settle: () => Promise.allSettled(begun),
    fill: (name, value) => void filled.push([name, value]),
    fillIn: (line) => filled.reduce((text, [name, value]) => text.replaceAll(name, value), line),
    hide: (value, placeholder) => void hidden.unshift([value, placeholder]),
    clean: ({ code, stdout, stderr }) => ({
      code,
      stdout: normalize(stdout, hidden),
      stderr: normalize(stderr, hidden),
    }),
  };
}

/** The lines of a text in the order of the alphabet, each once. */
export function sortLines(text: string): string {
  const lines = text.split('\n').slice(0, -1);
  return [...new Set(lines)]
    .sort()
    .map((line) => `${line}\n`)
    .join('');
}

/** The words of a line as a shell parts them: quotes of both kinds, a backslash before a quote inside double ones. */
export function splitWords(line: string): string[] {
  const words = line.match(/(?:'[^']*'|"(?:\\.|[^"\\])*"|[^\s'"])+/g) ?? [];
  return words.map((word) =>
    word.replace(
      /'([^']*)'|"((?:\\.|[^"\\])*)"/g,
      (_all, single?: string, double?: string) => single ?? double?.replace(/\\(["\\])/g, '$1') ?? '',
    ),
  );
}

/** The name under which a case is recorded. */
export function nameCase({ line, when, name = `vloc ${line}` }: Case): string {
  return `${name}${when === undefined ? '' : `  # ${when}`}`.replaceAll('\n', '\\n');
}
