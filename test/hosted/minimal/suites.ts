/** Runs suites that know nothing of it against a service that answers no more than it must. */
import { afterAll, describe, expect, it } from 'vitest';
import { type Extra, useMinimalService, useUsualService } from '../../service/harness/profiles.ts';
import { DUBBING, startScene } from '../../service/harness/scene.ts';

/**
 * @param suites by their names, with what loads them: their tests are defined as they load
 * @param more what the service says besides
 */
export function runOnMinimal(
  suites: Readonly<Record<string, () => Promise<unknown>>>,
  more: readonly Extra[] = [],
): void {
  useMinimalService(more);
  afterAll(useUsualService);
  for (const [name, load] of Object.entries(suites)) describe(name, async () => void (await load()));
  it('the service of these suites returns only required fields of a job', async () => {
    const shown = more.filter((extra) => extra === 'error' || extra === 'input');
    expect(await fieldsOfJob()).toEqual([...LEAST, ...shown].sort());
  });
}

/** What a service has to say of a job that waits. Source: specification, "Business job list item". */
const LEAST = [
  'billing',
  'client_reference',
  'created_at',
  'detail_url',
  'id',
  'object',
  'progress',
  'status',
  'updated_at',
];

/** What the service of these suites says of one. */
async function fieldsOfJob(): Promise<string[]> {
  const { caller, engines } = await startScene();
  engines.hold();
  const { json } = await caller.post('/v1/dubbings', DUBBING);
  engines.letGo();
  return Object.keys(json).sort();
}
