/** The result of a check, how a check is run within its time, and how all results are printed. */

import * as v from 'valibot';
import { Failure, type FailureCategory } from '../../base/failure.ts';
import { startTimeLimit, TimeOver } from '../../client/transport/http.ts';
import { formatDuration } from '../context/format.ts';
import type { Presentation } from '../context/output/presentation.ts';
import { Anything, lineOf, NullableText } from '../context/output-schemas.ts';

/** Whose fault a failed check is; the exit code follows from it. */
export type CheckArea = 'configuration' | 'disk' | 'network';
export type CheckGrade = 'ok' | 'warn' | 'fail';

export interface CheckResult {
  readonly grade: CheckGrade;
  /** The finding, without the final stop. Holds no secret. */
  readonly message: string;
  /** How to fix it. */
  readonly fix?: string;
  /** The same for programs. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

export interface CheckReport extends CheckResult {
  readonly check: string;
  readonly area: CheckArea;
}

/** Runs one check. */
export type RunCheck = (
  check: string,
  area: CheckArea,
  look: (signal: AbortSignal) => Promise<CheckResult> | CheckResult,
) => Promise<CheckReport>;

/** Checks of a healthy system take milliseconds; on one whose cores are busy, starting a program takes seconds. */
export const CHECK_LIMIT_MS = 15_000;

/**
 * Creates the function that runs checks. Errors and timeouts of a check become failed reports.
 * @throws the reason of the signal when that is aborted
 */
export function createCheckRunner(signal: AbortSignal, limitMs = CHECK_LIMIT_MS): RunCheck {
  return async (check, area, look) => {
    const limit = startTimeLimit(limitMs, signal);
    const over = Promise.withResolvers<never>();
    const onAbort = () => over.reject(limit.signal.reason);
    limit.signal.addEventListener('abort', onAbort, { once: true });
    try {
      return { check, area, ...(await Promise.race([look(limit.signal), over.promise])) };
    } catch (error) {
      signal.throwIfAborted();
      return reportOf(error, check, area, limitMs);
    } finally {
      limit.signal.removeEventListener('abort', onAbort);
      limit.clear();
    }
  };
}

const AREA_OF: Readonly<Partial<Record<FailureCategory, CheckArea>>> = {
  configuration: 'configuration',
  temporary: 'network',
  timeout: 'network',
  disk: 'disk',
};

function reportOf(error: unknown, check: string, area: CheckArea, limitMs: number): CheckReport {
  if (error instanceof TimeOver) {
    return { check, area, grade: 'fail', message: `no answer within ${formatDuration(limitMs)}` };
  }
  if (!(error instanceof Failure)) {
    const message = error instanceof Error ? error.message : String(error);
    return { check, area, grade: 'fail', message };
  }
  const { category, code, message, advice } = error.facts;
  // The other checks of this run are the test.
  const fix = advice === undefined ? {} : { fix: advice.replace(': `vloc doctor` tests all three', '') };
  return { check, area: AREA_OF[category] ?? area, grade: 'fail', message, ...fix, facts: { code } };
}

const GRADES = { ok: v.number(), warn: v.number(), fail: v.number() };
const CHECK = {
  check: v.string(),
  state: v.picklist(['ok', 'warn', 'fail']),
  area: v.picklist(['configuration', 'disk', 'network']),
  message: v.string(),
  fix: NullableText,
  facts: Anything,
};

export const FINDINGS = {
  json: [v.object({ ...GRADES, checks: v.array(v.object(CHECK)) })],
  ndjson: [lineOf('check', CHECK), lineOf('summary', GRADES)],
};

/** All reports as they are printed. */
export function presentFindings(findings: readonly CheckReport[]): Presentation {
  const count = (wanted: CheckGrade) => findings.filter(({ grade }) => grade === wanted).length;
  const summary = { ok: count('ok'), warn: count('warn'), fail: count('fail') };
  return {
    document: () => ({ ...summary, checks: findings.map(document) }),
    events: () => [
      ...findings.map((finding) => ({ type: 'check', ...document(finding) })),
      { type: 'summary', ...summary },
    ],
    rows: () => findings.map(({ grade, check, message }) => [grade, check, message]),
    ids: () => findings.flatMap(({ grade, check }) => (grade === 'ok' ? [] : [check])),
    pages: () => [{ head: ['STATE', 'CHECK', 'FINDING'], rows: findings.flatMap(rows) }],
  };
}

function document({ check, grade, area, message, fix, facts }: CheckReport): object {
  return { check, state: grade, area, message, fix: fix ?? null, facts: facts ?? {} };
}

function rows({ grade, check, message, fix }: CheckReport): string[][] {
  const found = [grade, check, message];
  return fix === undefined || grade === 'ok' ? [found] : [found, ['', '', `→ ${fix}`]];
}

/** Settings first, since wrong settings make other checks fail; the network last, since it may recover meanwhile. */
const ORDER: readonly CheckArea[] = ['configuration', 'disk', 'network'];

const CATEGORIES = { configuration: 'configuration', disk: 'disk', network: 'temporary' } as const;

/** Null when no check failed. */
export function checksFailure(findings: readonly CheckReport[]): Failure | null {
  const failed = findings.filter(({ grade }) => grade === 'fail');
  const area = ORDER.find((each) => failed.some((finding) => finding.area === each));
  if (area === undefined) return null;
  const fix = failed.find((finding) => finding.area === area && finding.fix !== undefined)?.fix;
  return new Failure({
    category: CATEGORIES[area],
    code: 'CHECKS_FAILED',
    message: `${failed.length} of ${findings.length} checks failed: ${failed.map(({ check }) => check).join(', ')}`,
    advice: fix ?? 'The findings above say why.',
    retryable: area === 'network',
  });
}
