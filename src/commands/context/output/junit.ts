/** A report for CI systems, in the XML of JUnit. Source: schema of Jenkins. */
import { escapeUTF8 } from 'entities';
import type { TestCase, TestSuite } from '../../../batch/report/test-suites.ts';
import { showInvisible } from '../../../batch/report/text-reports.ts';

export function writeJunit(suites: readonly TestSuite[]): string {
  // The schema knows skipped tests in suites only.
  const { skipped: _, ...totals } = totalsOf(suites.flatMap(({ cases }) => cases));
  const children = suites.map(({ name, at, cases }) => {
    const timestamp = at === undefined ? {} : { timestamp: at.slice(0, 'yyyy-mm-ddThh:mm:ss'.length) };
    return writeElement('testsuite', { name, ...totalsOf(cases), ...timestamp }, cases.map(writeCase));
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeElement('testsuites', { name: 'vloc', ...totals }, children)}\n`;
}

function totalsOf(cases: readonly TestCase[]) {
  return {
    tests: cases.length,
    failures: cases.filter(({ failure }) => failure !== undefined).length,
    errors: 0,
    skipped: cases.filter(({ skipped }) => skipped !== undefined).length,
    time: seconds(cases.reduce((sum, { durationMs = 0 }) => sum + durationMs, 0)),
  };
}

function writeCase({ name, subject, durationMs = 0, failure, skipped, ...printed }: TestCase): string {
  const { output = [], remarks = [] } = printed;
  const attributes = { name, classname: `vloc.${subject}`, time: seconds(durationMs) };
  return writeElement('testcase', attributes, [
    ...(failure === undefined ? [] : [writeText('failure', failure.lines, failure)]),
    ...(skipped === undefined ? [] : [writeElement('skipped', { message: skipped })]),
    ...(output.length === 0 ? [] : [writeText('system-out', output)]),
    ...(remarks.length === 0 ? [] : [writeText('system-err', remarks)]),
  ]);
}

/** Seconds with three decimals, as in the schema. */
function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function writeText(
  name: string,
  lines: readonly string[],
  { type, message }: Partial<Record<'type' | 'message', string>> = {},
): string {
  const text = lines.join('\n').split('\n').map(escapeXml).join('\n');
  return writeElement(name, { type, message }, [text]);
}

/** One element of XML, without attributes that are undefined; its children are elements or escaped text. */
function writeElement(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  children: readonly string[] = [],
): string {
  const pairs = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}="${escapeXml(String(value))}"`],
  );
  const start = `<${name}${pairs.join('')}`;
  if (children.length === 0) return `${start}/>`;
  const [first = ''] = children;
  const inside = first.startsWith('<') ? `\n${children.join('\n')}\n` : children.join('');
  return `${start}>${inside}</${name}>`;
}

function escapeXml(text: string): string {
  return escapeUTF8(showInvisible(text));
}
