/** Lists the languages of the installed engines, as the engines report them. */
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import type { Programs } from '../media/programs/programs.ts';
import { ENGINES, type Engine } from './catalog.ts';
import type { EngineChoice, StepEngines } from './choose.ts';
import { isBuiltIn } from './config.ts';
import { type Capabilities, type EngineStep, type MissingEngine, STEPS } from './engine.ts';

/** A program that does not answer in time counts as missing. */
const ANSWER_MS = 10_000;

/**
 * Asks all engines concurrently; the built-in ones answer in about a tenth of a second. Lists engines that cannot be used;
 * never throws because of one.
 */
export async function detectCapabilities(engines: StepEngines): Promise<Capabilities> {
  const run = { signal: AbortSignal.timeout(ANSWER_MS), folder: tmpdir() };
  const [recognize, translate, speak] = await Promise.all([
    askEngines(engines.recognize, (recognizer) => recognizer.languages(run)),
    askEngines(engines.translate, (translator) => translator.pairs(run)),
    askEngines(engines.speak, (speaker) => speaker.voices(run)),
  ]);
  const answers = { recognize, translate, speak };
  return {
    missing: STEPS.flatMap((step) => missingAt(step, engines, answers)),
    recognize: [...new Set(recognize.all)],
    translate: translate.all,
    speak: speak.all,
  };
}

interface Answers<T> {
  /** In the order of the engines. */
  readonly all: readonly T[];
  /** The first engine that did not answer, and why. */
  readonly failure: { readonly engine: string; readonly reason: string } | null;
}

async function askEngines<B extends { readonly name: string }, T>(
  candidates: readonly EngineChoice<B>[],
  question: (backend: B) => Promise<readonly T[]>,
): Promise<Answers<T>> {
  let failure: Answers<T>['failure'] = null;
  const answers = await Promise.all(
    candidates.map(({ backend }) =>
      question(backend).catch((error: unknown): readonly T[] => {
        failure ??= { engine: backend.name, reason: error instanceof Error ? error.message : String(error) };
        return [];
      }),
    ),
  );
  return { all: answers.flat(), failure };
}

/** Returns the engine that keeps a step from running, if there is one. */
function missingAt(
  step: EngineStep,
  engines: StepEngines,
  answers: { readonly [S in 'recognize' | 'translate' | 'speak']: Answers<unknown> },
): MissingEngine[] {
  const { programs } = engines;
  if (step === 'probe' || step === 'export' || step === 'separate') {
    const engine = missingEngine(programs, step);
    return engine === undefined ? [] : [{ step, engine: engine.name }];
  }
  const { all, failure } = answers[step];
  const isOnlyBuiltIn = engines[step].every(({ backend }) => isBuiltIn(step, backend.name));
  const engine = isOnlyBuiltIn ? missingEngine(programs, step) : undefined;
  if (engine !== undefined) return [{ step, engine: engine.name }];
  if (all.length > 0) return [];
  if (!isOnlyBuiltIn && failure !== null) return [{ step, ...failure }];
  return [{ step, engine: lastEngine(step)?.name ?? step }];
}

function missingEngine(programs: Programs, step: EngineStep): Engine | undefined {
  return ENGINES.find(
    (engine) => engine.steps.includes(step) && engine.onlyFor === undefined && !isInstalled(programs, engine),
  );
}

/** The engine whose data a step lacks: its program is installed, but has no models or languages. */
function lastEngine(step: EngineStep): Engine | undefined {
  return ENGINES.findLast((engine) => engine.steps.includes(step));
}

/** Whether the programs and packages of an engine are installed. */
export function isInstalled(programs: Programs, engine: Engine): boolean {
  const { resolve } = createRequire(import.meta.url);
  const hasPackage = (name: string) => {
    try {
      return resolve(name) !== '';
    } catch {
      return false;
    }
  };
  return engine.programs.every((name) => programs.locate(name) !== null) && engine.packages.every(hasPackage);
}
