/** Whether the engines of the embedded service can do what is asked, before anything is uploaded. */
import { Failure } from '../../client/failure.ts';
import type { Capabilities } from '../../engines/engine.ts';
import type { JobPlan } from './job-plan.ts';

/**
 * Checks every planned job; a service elsewhere (`capabilities` null) answers for itself.
 * @throws Failure of category configuration for a missing engine, usage for a language that there is no engine for
 */
export async function checkSupport(plan: JobPlan, capabilities: Capabilities | null): Promise<void> {
  if (capabilities === null) return;
  const { explainUnsupported } = await import('../../engines/support.ts');
  for (const { fields } of plan.jobs) {
    const obstacle = explainUnsupported(plan.kind, fields, capabilities);
    if (obstacle === null) continue;
    throw new Failure({
      category: obstacle.missing ? 'configuration' : 'usage',
      code: obstacle.missing ? 'ENGINE_MISSING' : 'LANGUAGE_NOT_SUPPORTED',
      message: obstacle.message,
      advice: obstacle.advice,
    });
  }
}
