/**
 * Writes a batch as test results for CI systems: an item is a test case, a failed item a failure, an unfinished one skipped. Sources: the schema of Jenkins' xUnit plugin, which others follow; XML 1.0, 2.2 (characters) and
 * 3.3.3 (attribute values).
 */

import { dirname, relative } from 'node:path';
import {
  type BatchFacts,
  countFailed,
  countOpen,
  countStates,
  FAILED_STATES,
  type ReportHead,
} from './batch-facts.ts';
import { type ItemReport, nameItem } from './item-report.ts';
import { describeWarnings, fallbacksOf } from './provenance.ts';
import { showInvisible } from './visible-text.ts';

export function writeJunit(facts: BatchFacts, head: ReportHead): string {
  const [only = ''] = head.folders;
  const timestamp = head.madeAt.slice(0, 19);
  const above = commonFolder(head.folders.map((folder) => dirname(folder)));
  const suites = head.folders.map((folder) => {
    const items = facts.items.filter((item) => (item.folder ?? only) === folder);
    const cases = items.map((item) => writeCase(item, folder));
    return element(
      'testsuite',
      { name: relative(above, folder) || '.', ...totalsOf(items, 0), timestamp },
      cases,
    );
  });
  const missing = facts.missing_shards;
  const absent = element(
    'testsuite',
    { name: 'shards', ...totalsOf([], missing.length), timestamp },
    missing.map((shard) => writeMissing(shard)),
  );
  const all = missing.length === 0 ? suites : [...suites, absent];
  return writeXml(element('testsuites', { name: 'vloc', ...totalsOf(facts.items, missing.length) }, all));
}

/** The innermost folder around all of these. */
function commonFolder([first = '', ...others]: readonly string[]): string {
  const isAround = (folder: string) => others.every((other) => `${other}/`.startsWith(`${folder}/`));
  return isAround(first) || dirname(first) === first ? first : commonFolder([dirname(first), ...others]);
}

/** @param missing number of shards that have not run */
function totalsOf(items: readonly ItemReport[], missing: number) {
  const counts = countStates(items);
  return {
    tests: items.length + missing,
    failures: countFailed({ counts }),
    errors: 0,
    skipped: countOpen({ counts }) + missing,
    time: seconds(items.reduce((sum, item) => sum + durationMs(item), 0)),
  };
}

/** A shard that has not run: its items are unknown. */
function writeMissing(shard: string): XmlElement {
  const skipped = element('skipped', { message: 'it has not run on this machine' }, []);
  return element('testcase', { name: `shard ${shard}`, classname: 'vloc.shard', time: seconds(0) }, [
    skipped,
  ]);
}

function writeCase(item: ItemReport, folder: string): XmlElement {
  const attributes = {
    name: nameItem(item),
    classname: `vloc.${item.kind}`,
    time: seconds(durationMs(item)),
  };
  return element('testcase', attributes, [
    ...writeOutcome(item),
    ...writeFiles(item, folder),
    ...writeRemarks(item),
  ]);
}

function writeOutcome({ state, error, job_id: job }: ItemReport): XmlElement[] {
  if (state === 'done') return [];
  if (!FAILED_STATES.some((each) => each === state)) return [element('skipped', { message: state }, [])];
  const code = error?.code ?? state.toUpperCase();
  const message = error?.message ?? state;
  const origin = [
    ['code', code],
    ['job', job],
    ['request', error?.request_id ?? null],
    ['retryable', error?.retryable === true ? 'yes' : 'no'],
  ];
  const text = origin.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`])).join('\n');
  return [element('failure', { type: code, message }, [`${message}\n${text}`])];
}

function writeFiles({ files }: ItemReport, folder: string): XmlElement[] {
  if (files.length === 0) return [];
  return [element('system-out', {}, [files.map(({ path }) => relative(folder, path)).join('\n')])];
}

/** Engines used instead of preferred ones, and what is worse than requested. */
function writeRemarks({ provenance }: ItemReport): XmlElement[] {
  if (provenance === undefined) return [];
  const remarks = [...fallbacksOf(provenance), ...describeWarnings(provenance)];
  return remarks.length === 0 ? [] : [element('system-err', {}, [remarks.join('\n')])];
}

function durationMs({ created_at: from, finished_at, downloaded_at }: ItemReport): number {
  const to = downloaded_at ?? finished_at;
  return from === null || to === null ? 0 : Math.max(0, Date.parse(to) - Date.parse(from));
}

/** Seconds with three decimals, as in the schema. */
function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function element(
  name: string,
  attributes: XmlElement['attributes'],
  children: readonly XmlNode[],
): XmlElement {
  return { name, attributes, children };
}

type XmlNode = XmlElement | string;

interface XmlElement {
  readonly name: string;
  /** Null values are omitted. */
  readonly attributes: Readonly<Record<string, string | number | null>>;
  readonly children: readonly XmlNode[];
}

/** Writes a document, indented by two spaces per level, with escaped texts and attribute values. */
function writeXml(root: XmlElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeElement(root, '')}\n`;
}

function writeElement({ name, attributes, children }: XmlElement, indent: string): string {
  const written = Object.entries(attributes).flatMap(([attribute, value]) =>
    value === null ? [] : [` ${attribute}="${escapeXml(String(value))}"`],
  );
  const start = `${indent}<${name}${written.join('')}`;
  if (children.length === 0) return `${start}/>`;
  const [only] = children;
  if (children.length === 1 && typeof only === 'string') return `${start}>${escapeLines(only)}</${name}>`;
  const inside = children.map((child) =>
    typeof child === 'string' ? `${indent}  ${escapeLines(child)}` : writeElement(child, `${indent}  `),
  );
  return [`${start}>`, ...inside, `${indent}</${name}>`].join('\n');
}

function escapeLines(text: string): string {
  return text.split('\n').map(escapeXml).join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function escapeXml(text: string): string {
  return showInvisible(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
