/** What the installed engines can do, as they report it. */
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { ENGINES, type Engine } from './catalog.ts';
import type { Capabilities, EngineStep } from './engine.ts';
import { STEPS } from './engine.ts';
import type { Programs } from './programs.ts';
import { findSpeechModels } from './recognize/model.ts';
import { listVoices, voiceNames } from './speak/voices.ts';
import { listDirections } from './translate/directions.ts';

/** A program that does not answer in time counts as missing. */
const ANSWER_MS = 10_000;

/** Asks all engines concurrently, in about a tenth of a second. Lists missing engines; never throws because of one. */
export async function detectCapabilities(programs: Programs): Promise<Capabilities> {
  const run = { signal: AbortSignal.timeout(ANSWER_MS), folder: tmpdir() };
  const recognize = findSpeechModels().map((model) => model.language);
  const ask = async <T>(program: string, question: () => Promise<T[]>): Promise<T[]> =>
    programs.locate(program) === null ? [] : question().catch(() => []);
  const [directions, voices] = await Promise.all([
    ask('apertium', () => listDirections(programs, run)),
    ask('espeak-ng', () => listVoices(programs, run)),
  ]);
  const able: Partial<Record<EngineStep, boolean>> = {
    recognize: recognize.length > 0,
    translate: directions.length > 0,
    speak: voices.length > 0,
  };
  return {
    missing: STEPS.flatMap((step) => {
      const engine = missingEngine(programs, step) ?? (able[step] === false ? lastEngine(step) : undefined);
      return engine === undefined ? [] : [{ step, engine: engine.name }];
    }),
    recognize: [...new Set(recognize)],
    translate: directions.map(({ from, to }) => ({ from, to })),
    speak: voices.map((voice) => ({ language: voice.language, voices: voiceNames(voice) })),
  };
}

function missingEngine(programs: Programs, step: EngineStep): Engine | undefined {
  return ENGINES.filter((engine) => engine.steps.includes(step)).find(
    (engine) => !isInstalled(programs, engine),
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
