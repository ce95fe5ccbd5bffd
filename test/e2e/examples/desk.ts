/** A folder, a service and a `vloc` on the PATH, where the examples of the help run unchanged. */

import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Example } from '../../../src/commands/context/command.ts';
import { environmentOf } from '../../commands/support/run-vloc.ts';
import { type Scene, startScene } from '../../service/harness/scene.ts';
import { createSmallEngines, mediaOf, type SmallEngines } from '../../service/harness/small-engines.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { type Ended, runMain } from '../../support/run-main.ts';

export interface Desk {
  readonly scene: Scene;
  readonly engines: SmallEngines;
  readonly folder: string;
  /** Shared by all runs and shells; examples may need more in it. */
  readonly env: Record<string, string>;
  /** Operations that the service has answered, in order: `listDubbings`. */
  readonly answered: readonly string[];
  run(words: readonly string[], stdin?: string): Promise<Ended>;
  /** Runs a line in a shell; vloc is a process of its own there. */
  shell(line: string, program?: string): Promise<Ended>;
  /** Puts a program on the PATH, given as a shell script. */
  addProgram(name: string, script: string): Promise<void>;
}

/** The languages of the small engines and Catalan, which the examples translate to. */
const LANGUAGES = ['en', 'es', 'ca'];
/** The build: it starts in a third of the time of the sources. */
const ENTRY = fileURLToPath(new URL('../../../bin/vloc.js', import.meta.url));

/** Small engines for which every video lasts a minute: to decode it each time would be most of the work here. */
function createDeskEngines(): SmallEngines {
  return {
    ...createSmallEngines(),
    inspect: async () => mediaOf(60),
    capabilities: async () => ({
      missing: [],
      recognize: ['en'],
      translate: LANGUAGES.filter((to) => to !== 'en').map((to) => ({ from: 'en', to })),
      speak: LANGUAGES.map((language) => ({ language, voices: [language] })),
    }),
  };
}

export async function openDesk(): Promise<Desk> {
  const engines = createDeskEngines();
  const answered: string[] = [];
  // One worker, so that jobs after a long one stay queued; one attempt, so that a failure ends a job immediately.
  const scene = await startScene({
    engines,
    config: { workers: 1, attempts: 1 },
    onRequest: ({ operationId }) => answered.push(operationId ?? ''),
  });
  const folder = makeFolder();
  const bin = join(folder, 'bin');
  const home = join(folder, 'home');
  for (const made of [bin, home]) await mkdir(made, { mode: 0o700 });
  const env: Record<string, string> = {
    HOME: home,
    PATH: `${bin}${delimiter}${rememberingPath()}`,
    ...environmentOf(scene, folder),
    VLOC_NO_KEYCHAIN: '1',
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
  };

  const addProgram: Desk['addProgram'] = async (name, script) => {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  };
  await addProgram('vloc', `exec '${process.execPath}' '${ENTRY}' "$@"`);

  return {
    scene,
    engines,
    folder,
    env,
    answered,
    addProgram,
    async run(words, stdin) {
      return runMain(words, { cwd: folder, env, ...(stdin === undefined ? {} : { stdin }) });
    },
    shell: (line, program = 'sh') => runShell(program, line, { cwd: folder, env }),
  };
}

function runShell(
  program: string,
  line: string,
  where: { cwd: string; env: Record<string, string> },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, ['-c', line], where, (error, stdout, stderr) => {
      if (child.exitCode === null) reject(error ?? new Error(`${program} was ended`));
      else resolve({ code: child.exitCode, stdout, stderr });
    });
    child.stdin?.end();
    onTestFinished(() => void child.kill());
  });
}

/** The arguments of a call of vloc, parted as a shell parts them. */
export async function splitWords(desk: Desk, line: string): Promise<string[]> {
  const { stdout } = await desk.shell(`vloc() { printf '%s\\0' "$@"; }; ${line}`);
  return stdout.split('\0').slice(0, -1);
}

/** Whether it takes more of a shell than parting the words. */
export function needsShell(line: string): boolean {
  return /[|<>]/.test(line.replace(/'[^']*'|"(?:\\.|[^"\\])*"/g, ''));
}

/** What such an example prints depends on the machine, its programs and its free space. */
export function isOfTheMachine(line: string): boolean {
  return /^vloc (doctor(?!.*id)|engines|profile add prod$)/.test(line);
}

/** Files and folders that an example says it writes, in its explanation or as the target of `--out` or `>`. */
export function promisedFiles({ command, explains }: Example): string[] {
  const told = explains.match(/\.\/[\w.+]*\w/g) ?? [];
  const targets = [...command.matchAll(/(?:--out|>) ([\w.]+)/g)].map(([, name = '']) => name);
  return [...told, ...targets];
}
