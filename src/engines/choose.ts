/** The engines of each step, and which of them a job gets by its languages. */
import type { Programs } from '../media/programs/programs.ts';
import type { EngineUse, JobStep } from '../media/work.ts';
import { JobFailure } from '../protocol/job-failure.ts';
import { ENGINE_STEPS } from '../protocol/provenance.ts';
import type { BackendOf } from './backend.ts';
import { isBuiltIn } from './config.ts';

/** An engine of a step, in order of preference. */
export interface EngineChoice<B> {
  readonly backend: B;
  /** Whether a later engine may be used if this one does not support a language. */
  readonly fallback: boolean;
}

/** The engines of all steps of jobs. */
export type StepEngines = { readonly [S in JobStep]: readonly EngineChoice<BackendOf[S]>[] } & {
  /** Runs programs of this machine, for everything between the steps. */
  readonly programs: Programs;
  /** Returns a text that changes when the engines of a step change; see `identifyEngines` in create.ts. */
  readonly identify: (step: JobStep) => Promise<string>;
};

/**
 * Chooses the first engine that supports a job's languages.
 * @param explain makes the failure if none does
 * @throws JobFailure LANGUAGE_NOT_SUPPORTED if none does, or if the preferred one forbids a fallback
 */
export async function chooseBackend<S extends JobStep>(
  step: S,
  candidates: readonly EngineChoice<BackendOf[S]>[],
  supports: (backend: BackendOf[S]) => Promise<boolean>,
  explain: () => Promise<JobFailure>,
): Promise<{ backend: BackendOf[S]; use: EngineUse }> {
  const skipped: string[] = [];
  for (const { backend, fallback } of candidates) {
    if (await supports(backend)) {
      // The built-in ones share the languages among them: none stands in for another.
      const named = isBuiltIn(step, backend.name)
        ? skipped.filter((name) => !isBuiltIn(step, name))
        : skipped;
      return { backend, use: { step, engine: backend.name, skipped: named } };
    }
    if (!fallback) {
      const { message } = await explain();
      throw new JobFailure(
        'LANGUAGE_NOT_SUPPORTED',
        `${backend.name} does not support this, and "fallback": false in engines.json allows no other engine; ${message}`,
      );
    }
    skipped.push(backend.name);
  }
  throw await explain();
}

/** Ends all engines. */
export async function closeEngines(engines: StepEngines): Promise<void> {
  await Promise.all(ENGINE_STEPS.flatMap((step) => engines[step].map(({ backend }) => backend.close())));
}
