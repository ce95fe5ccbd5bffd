/** Findings on stdout, and the failure that they add up to. */

import type { Context } from '../../context/context.ts';
import { Failure } from '../../errors/failure.ts';
import type { Area, Finding, Grade } from './finding.ts';

/** Prints all findings, in the form that was asked for. */
export async function printFindings(context: Context, findings: readonly Finding[]): Promise<void> {
  const { output, print, terminal } = context;
  const summary = {
    ok: count(findings, 'ok'),
    warn: count(findings, 'warn'),
    fail: count(findings, 'fail'),
  };
  switch (output) {
    case 'json':
      print(JSON.stringify({ ...summary, checks: findings.map(document) }, null, 2));
      return;
    case 'ndjson':
      for (const finding of findings) print(JSON.stringify({ type: 'check', ...document(finding) }));
      print(JSON.stringify({ type: 'summary', ...summary }));
      return;
    case 'plain':
      for (const { grade, check, message } of findings) print(`${grade}\t${check}\t${message}`);
      return;
    case 'id':
      for (const { grade, check } of findings) if (grade !== 'ok') print(check);
      return;
    case 'table':
      print(await terminal.table(['STATE', 'CHECK', 'FINDING'], findings.flatMap(rows)));
  }
}

function count(findings: readonly Finding[], grade: Grade): number {
  return findings.filter((finding) => finding.grade === grade).length;
}

function document({ check, grade, area, message, fix, facts }: Finding): object {
  return { check, state: grade, area, message, fix: fix ?? null, facts: facts ?? {} };
}

function rows({ grade, check, message, fix }: Finding): string[][] {
  const found = [grade, check, message];
  return fix === undefined || grade === 'ok' ? [found] : [found, ['', '', `→ ${fix}`]];
}

/** The settings come first: their faults make the rest fail. A network may recover by itself, a disk does not. */
const ORDER: readonly Area[] = ['configuration', 'disk', 'network'];

const CATEGORIES = { configuration: 'configuration', disk: 'disk', network: 'temporary' } as const;

/** Null when no check failed. */
export function failureOf(findings: readonly Finding[]): Failure | null {
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
