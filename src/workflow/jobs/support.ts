/** Whether the engines of the embedded service can do what is asked, before anything is uploaded. */
import type { BatchItem } from '../../batch/item.ts';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import type { Capabilities } from '../../engines/engine.ts';
import { Failure } from '../../errors/failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';

/**
 * Checks every item that a new job is to be made for; a service elsewhere (`capabilities` null) answers for itself.
 * @throws Failure of category configuration for a missing engine, usage for a language that there is no engine for
 */
export async function checkSupport(
  planned: readonly PlannedItem[],
  capabilities: Capabilities | null,
): Promise<void> {
  for (const { item, decision } of planned) {
    if (decision.step === 'new') await checkRequestSupport(item.kind, item.fields, capabilities);
  }
}

/** The same for one request. @param fields of it, without the source  @throws Failure */
export async function checkRequestSupport(
  kind: JobKind,
  fields: BatchItem['fields'],
  capabilities: Capabilities | null,
): Promise<void> {
  if (capabilities === null) return;
  const { explainUnsupported } = await import('../../engines/support.ts');
  const obstacle = explainUnsupported(kind, fields, capabilities);
  if (obstacle === null) return;
  throw new Failure({
    category: obstacle.missing ? 'configuration' : 'usage',
    code: obstacle.missing ? 'ENGINE_MISSING' : 'LANGUAGE_NOT_SUPPORTED',
    message: obstacle.message,
    advice: obstacle.advice,
  });
}
