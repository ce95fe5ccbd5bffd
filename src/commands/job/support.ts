/** Whether the engines of the embedded service can do what is asked, before anything is uploaded. */
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import { Failure } from '../../client/failure.ts';
import type { Capabilities } from '../../engines/engine.ts';

/**
 * Checks every item that a new job is to be made for; a service elsewhere (`capabilities` null) answers for itself.
 * @throws Failure of category configuration for a missing engine, usage for a language that there is no engine for
 */
export async function checkSupport(
  planned: readonly PlannedItem[],
  capabilities: Capabilities | null,
): Promise<void> {
  if (capabilities === null) return;
  const { explainUnsupported } = await import('../../engines/support.ts');
  for (const { item, decision } of planned) {
    const obstacle =
      decision.step === 'new' ? explainUnsupported(item.kind, item.fields, capabilities) : null;
    if (obstacle === null) continue;
    throw new Failure({
      category: obstacle.missing ? 'configuration' : 'usage',
      code: obstacle.missing ? 'ENGINE_MISSING' : 'LANGUAGE_NOT_SUPPORTED',
      message: obstacle.message,
      advice: obstacle.advice,
    });
  }
}
