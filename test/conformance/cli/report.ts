/** Formats the results of a run, as text and as JSON. */
import { stripVTControlCharacters } from 'node:util';
import type { Rule } from '../rule.ts';
import type { Outcome } from '../run-rule.ts';

export interface Verdict {
  readonly rule: Rule;
  readonly outcome: Outcome;
}

export interface Count {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const WORDS = { passed: 'ok     ', failed: 'failed ', skipped: 'skipped' } as const;

/** Text from the service is untrusted: it is shown on one line, without control characters. */
function clean(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
}

/** Returns the row of one rule, followed by the reason if it did not pass. */
export function formatRow({ rule, outcome }: Verdict): string {
  const row = `${WORDS[outcome.status]} ${rule.id}  ${rule.title}`;
  return outcome.status === 'passed' ? row : `${row}\n          ${clean(outcome.reason)}`;
}

/** Counts the rules by outcome. */
export function count(verdicts: readonly Verdict[]): Count {
  const of = (status: Outcome['status']) =>
    verdicts.filter(({ outcome }) => outcome.status === status).length;
  return { passed: of('passed'), failed: of('failed'), skipped: of('skipped') };
}

/** Returns the last line of a run. */
export function formatCount({ passed, failed, skipped }: Count): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

/** Returns the whole run as one document. `reason` is null for a rule that passed. */
export function formatJson(verdicts: readonly Verdict[]): string {
  const rules = verdicts.map(({ rule, outcome }) => ({
    id: rule.id,
    title: rule.title,
    covers: rule.covers,
    strictness: rule.strictness,
    status: outcome.status,
    reason: outcome.status === 'passed' ? null : clean(outcome.reason),
  }));
  return JSON.stringify({ rules, ...count(verdicts) }, null, 2);
}
