/** What a process reports about itself to `vloc serve health`. */
import { freeBytes } from '../../base/folder.ts';
import type { Capabilities } from '../../engines/engine.ts';
import type { ServiceContext } from '../context.ts';
import type { NodeHealth } from '../options.ts';
import { LEASE_MS } from '../running/leases.ts';
import { createReadiness } from './readiness.ts';

const OK = 'ok';

/** Creates the check of one process. It never throws. */
export function createNodeHealth(context: ServiceContext): () => Promise<NodeHealth> {
  const { activity, role, folders } = context;
  const check = createReadiness(context);
  return async () => {
    const { status: ofParts, ...parts } = await check();
    const lease = describeLease(context);
    const capabilities = activity.capabilities();
    const engines = capabilities && describeEngines(capabilities);
    const isDegraded = ofParts === 'degraded' || (engines ?? OK) !== OK;
    const works = isDegraded ? 'degraded' : OK;
    const ofWork = ofParts === 'failing' || (lease ?? OK) !== OK ? 'failing' : works;
    return {
      status: activity.state === 'running' ? ofWork : activity.state,
      node: activity.node,
      role,
      runningJobs: activity.jobs().running,
      ...parts,
      lease,
      engines,
      diskFreeBytes: await freeBytes(folders.root),
    };
  };
}

/** The other nodes take the jobs of one that is not announced for as long as a lease. */
function describeLease({ isShared, activity, clock }: ServiceContext): string | null {
  if (!isShared) return null;
  const { announcedAt } = activity;
  if (announcedAt === null) return 'not announced yet';
  const ageMs = clock.now() - announcedAt;
  return ageMs < LEASE_MS ? OK : `not renewed for ${Math.round(ageMs / 1000)} s`;
}

function describeEngines({ missing }: Capabilities): string {
  if (missing.length === 0) return OK;
  return `missing: ${missing.map(({ step, engine }) => `${engine} (${step})`).join(', ')}`;
}
