/** Runs one rule against a service. */
import { NEEDS, type Need, type Rule } from './rule.ts';
import { type ServiceUnderTest, withEndings } from './service.ts';

export type Outcome =
  | { readonly status: 'passed' }
  | { readonly status: 'failed'; readonly reason: string }
  | { readonly status: 'skipped'; readonly reason: string };

/**
 * The service refused a request that only prepares a rule and whose form the specification does not define. A strict
 * run counts this as a failure. A tolerant run skips the rule.
 */
export class Unprepared extends Error {
  override readonly name = 'Unprepared';
}

/** Why a tolerant run skips a rule of ours. */
export const NOT_SPECIFIED = 'our decision, not the specification’s';

/** Returns why a rule cannot be run against this service, or null. */
function explainSkip(rule: Rule, service: ServiceUnderTest): string | null {
  if (rule.strictness === 'contract' && !service.strict) return NOT_SPECIFIED;
  const lacking = rule.needs.find((need) => !isThere(need, service));
  return lacking === undefined ? null : NEEDS[lacking];
}

function isThere(need: Need, { supplies, admin }: ServiceUnderTest): boolean {
  switch (need) {
    case 'jobs':
      return supplies.jobs;
    case 'media':
    case 'mediaUrl':
    case 'ffmpeg':
    case 'otherKey':
    case 'webhooks':
      return supplies[need] !== null;
    case 'keys':
    case 'account':
    case 'clock':
    case 'engines':
      return admin !== null;
  }
}

/** Runs a rule and resolves with its outcome. Rejects only for values that are not an Error. */
export async function runRule(rule: Rule, service: ServiceUnderTest): Promise<Outcome> {
  const skip = explainSkip(rule, service);
  if (skip !== null) return { status: 'skipped', reason: skip };
  try {
    await withEndings(() => rule.check(service));
    return { status: 'passed' };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const undecided = error instanceof Unprepared && !service.strict;
    return { status: undecided ? 'skipped' : 'failed', reason: error.message };
  }
}
