/** Writes a batch as Markdown, for a ticket or the summary of a CI run. Source: CommonMark; GFM, "Tables" and "Autolinks". */
import { dirname, relative } from 'node:path';
import { escapeUTF8 } from 'entities';
import { formatBytes } from '../../base/amounts.ts';
import { nameCue } from '../../protocol/subtitle-line.ts';
import {
  cutsOf,
  describeLosses,
  describeUse,
  describeWarnings,
  fallbacksOf,
  fastOf,
} from '../item-provenance.ts';
import { type AttentionPlace, describePlace } from './attention.ts';
import {
  type BatchFacts,
  countFailed,
  countOpen,
  countStates,
  FAILED_STATES,
  type ReportHead,
  type ShardReport,
} from './batch-facts.ts';
import { describeItemCosts } from './costs.ts';
import { ITEM_STATES, type ItemReport, nameItem } from './item-report.ts';
import { describeMissing } from './shard-facts.ts';

export function writeMarkdown(facts: BatchFacts, head: ReportHead): string {
  const failed = facts.items.filter(({ state }) => FAILED_STATES.some((each) => each === state));
  const parts = [
    [`# ${head.folders.map((folder) => escapeMarkdown(nameFolder(folder, head))).join(', ')}`],
    [summary(facts, head)],
    problems(facts),
    facts.shards.length === 0 ? [] : ['## Shards', table(SHARD_HEAD, facts.shards.map(shardRow))],
    failed.length === 0 ? [] : ['## What failed', table(FAILURE_HEAD, failed.map(failureRow))],
    describeProvenance(facts.items),
    describeLostTerms(facts.items, head),
    (head.attributions ?? []).map((notice) => `- ${escapeMarkdown(notice)}`),
    facts.items.length === 0 ? [] : ['## Items', itemTable(facts.items, head.folders[0] ?? '')],
  ];
  return `${parts.flat().join('\n\n')}\n`;
}

function summary({ items, counts, next_deadline }: BatchFacts, { madeAt }: ReportHead): string {
  const states = ITEM_STATES.filter((state) => counts[state] > 0).map((state) => `${counts[state]} ${state}`);
  const lines = [
    `${items.length === 1 ? '1 item' : `${items.length} items`} at ${madeAt}: ${states.join(', ') || 'no job was requested yet'}.`,
  ];
  const cost = describeItemCosts(items);
  if (cost !== null) lines.push(`Cost: ${cost}.`);
  if (next_deadline !== null)
    lines.push(`The first download link of a result that was not downloaded expires at ${next_deadline}.`);
  return lines.join(' ');
}

function problems(facts: BatchFacts): string[] {
  const { open_questions, damaged } = facts;
  const missing = describeMissing(facts);
  const lines = missing === null ? [] : [missing];
  if (open_questions.length > 0) {
    lines.push(`Requests without a response: ${open_questions.map(escapeMarkdown).join(', ')}.`);
  }
  if (damaged > 0) lines.push(`The journal is damaged in ${damaged} places.`);
  return lines;
}

const SHARD_HEAD = ['shard', 'machine', 'items', 'done', 'failed', 'open', 'folder'];

function shardRow({ shard, host, items, done, failed, open, folder }: ShardReport): string[] {
  return [shard, host ?? '', ...[items, done, failed, open].map(String), folder];
}

const FAILURE_HEAD = ['item', 'code', 'why', 'retryable', 'job', 'request'];

function failureRow({ label, error, job_id }: ItemReport): string[] {
  const retryable = error?.retryable === true ? 'yes' : 'no';
  return [label, error?.code ?? '', error?.message ?? '', retryable, job_id ?? '', error?.request_id ?? ''];
}

const PROVENANCE_HEAD = ['item', 'engines', 'cues cut off', 'fast cues (tempo)'];

/** Which engines were used, and which cues have no end or are fast; nothing if the service said neither. */
function describeProvenance(items: readonly ItemReport[]): string[] {
  const rows = items.flatMap(({ label, provenance }) => {
    if (provenance === undefined || provenance.engines.length + provenance.cues.length === 0) return [];
    const engines = provenance.engines.map(describeUse).join('; ');
    return [[label, engines, cutsOf(provenance)?.numbers ?? '', fastOf(provenance)?.numbers ?? '']];
  });
  return rows.length === 0 ? [] : ['## How it was made', table(PROVENANCE_HEAD, rows)];
}

const LOSS_HEAD = ['place', 'term', 'should be', 'missing', 'translation'];

/** The terms of --terms that translations have lost; nothing if there are none. */
function describeLostTerms(items: readonly ItemReport[], { folders: [only = ''] }: ReportHead): string[] {
  const rows = items.flatMap(({ provenance, folder = only }) =>
    (provenance?.lost_terms ?? []).map(({ file, row, term, expected, missing, text = '' }) => [
      nameCue(relative(folder, file), row),
      term,
      expected,
      String(missing),
      text,
    ]),
  );
  return rows.length === 0 ? [] : ['## Lost terms', table(LOSS_HEAD, rows)];
}

const ITEM_HEAD = ['item', 'kind', 'state', 'job', 'cost', 'files'];

/** Without the column of costs if nothing has any. */
function itemTable(items: readonly ItemReport[], only: string): string {
  const isShown = (_: unknown, at: number) => ITEM_HEAD[at] !== 'cost' || describeItemCosts(items) !== null;
  return table(
    ITEM_HEAD.filter(isShown),
    items.map((item) => itemRow(item, only).filter(isShown)),
  );
}

function itemRow(item: ItemReport, only: string): string[] {
  const { label, kind, state, job_id, files, folder = only } = item;
  const written = files.map(({ asset, path, bytes }) => {
    const name = `${relative(folder, path)} (${formatBytes(bytes)})`;
    return asset === null ? name : `${asset}: ${name}`;
  });
  return [label, kind, state, job_id ?? '', describeItemCosts([item]) ?? '', written.join(', ')];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map((row) => line(row.map(escapeMarkdown)))].join(
    '\n',
  );
}

/** Characters that are markup in a line or table cell, or that would turn text into a link. */
const MARKUP = /[\\`*_[\]<>|~#&@]|!(?=\[)|:(?=\/\/)|(?<=www)\./gi;

function escapeMarkdown(text: string): string {
  return showInvisible(text).replace(MARKUP, (character) => `\\${character}`);
}

type AttentionOf = (item: ItemReport) => readonly AttentionPlace[];

/** @param attentionOf what needs a person in the result of an item: it fails for that */
export function writeJunit(facts: BatchFacts, head: ReportHead, attentionOf: AttentionOf = () => []): string {
  const [only = ''] = head.folders;
  const timestamp = head.madeAt.slice(0, 19);
  const suites = head.folders.map((folder) => {
    const items = facts.items.filter((item) => (item.folder ?? only) === folder);
    const cases = items.map((item) => writeCase(item, folder, attentionOf(item)));
    return writeElement(
      'testsuite',
      { name: nameFolder(folder, head), ...totalsOf(items, 0, attentionOf), timestamp },
      cases,
    );
  });
  const missing = facts.missing_shards;
  const absent = writeElement(
    'testsuite',
    { name: 'shards', ...totalsOf([], missing.length, attentionOf), timestamp },
    missing.map((shard) => writeMissing(shard)),
  );
  const all = missing.length === 0 ? suites : [...suites, absent];
  return writeDocument({ name: 'vloc', ...totalsOf(facts.items, missing.length, attentionOf) }, all);
}

/** The name of a folder of results, without the folders around all of them, which each machine has its own of. */
function nameFolder(folder: string, { folders }: ReportHead): string {
  return relative(commonFolder(folders.map((each) => dirname(each))), folder) || '.';
}

/** The innermost folder around all of these. */
function commonFolder([first = '', ...others]: readonly string[]): string {
  const isAround = (folder: string) => others.every((other) => `${other}/`.startsWith(`${folder}/`));
  return isAround(first) || dirname(first) === first ? first : commonFolder([dirname(first), ...others]);
}

/** @param missing number of shards that have not run */
function totalsOf(items: readonly ItemReport[], missing: number, attentionOf: AttentionOf) {
  const counts = countStates(items);
  const needy = items.filter((item) => item.state === 'done' && attentionOf(item).length > 0);
  return {
    tests: items.length + missing,
    failures: countFailed({ counts }) + needy.length,
    errors: 0,
    skipped: countOpen({ counts }) + missing,
    time: seconds(items.reduce((sum, item) => sum + durationMs(item), 0)),
  };
}

/** A shard that has not run: its items are unknown. */
function writeMissing(shard: string): string {
  const skipped = writeElement('skipped', { message: 'it has not run on this machine' });
  return writeElement('testcase', { name: `shard ${shard}`, classname: 'vloc.shard', time: seconds(0) }, [
    skipped,
  ]);
}

function writeCase(item: ItemReport, folder: string, places: readonly AttentionPlace[]): string {
  const attributes = {
    name: nameItem(item),
    classname: `vloc.${item.kind}`,
    time: seconds(durationMs(item)),
  };
  return writeElement('testcase', attributes, [
    ...writeOutcome(item, listPlaces(places, item, folder)),
    ...writeFiles(item, folder),
    ...writeRemarks(item, folder),
  ]);
}

/** @param places lines about what needs a person */
function writeOutcome({ state, error, job_id: job }: ItemReport, places: readonly string[]): string[] {
  if (state === 'done') return writeAttention(places);
  if (!FAILED_STATES.some((each) => each === state)) return [writeElement('skipped', { message: state })];
  const code = error?.code ?? state.toUpperCase();
  const message = error?.message ?? state;
  const origin = [
    ['code', code],
    ['job', job],
    ['request', error?.request_id ?? null],
    ['retryable', error?.retryable === true ? 'yes' : 'no'],
  ];
  const text = origin.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`])).join('\n');
  const all = [message, text, ...places].join('\n');
  return [writeElement('failure', { type: code, message }, [escapeLines(all)])];
}

function writeAttention(places: readonly string[]): string[] {
  if (places.length === 0) return [];
  const message = places.length === 1 ? '1 place needs a person' : `${places.length} places need a person`;
  return [writeElement('failure', { type: 'NEEDS_ATTENTION', message }, [escapeLines(places.join('\n'))])];
}

function listPlaces(
  places: readonly AttentionPlace[],
  { label }: ItemReport,
  folder: string,
): readonly string[] {
  return places.flatMap((place) =>
    describePlace(place, place.file === null ? label : relative(folder, place.file)),
  );
}

function writeFiles({ files }: ItemReport, folder: string): string[] {
  if (files.length === 0) return [];
  return [
    writeElement('system-out', {}, [escapeLines(files.map(({ path }) => relative(folder, path)).join('\n'))]),
  ];
}

/** Engines used instead of preferred ones, what is worse than requested, and lost terms. */
function writeRemarks({ provenance }: ItemReport, folder: string): string[] {
  if (provenance === undefined) return [];
  const losses = describeLosses(provenance, (path) => relative(folder, path));
  const remarks = [...fallbacksOf(provenance), ...describeWarnings(provenance), ...losses];
  return remarks.length === 0 ? [] : [writeElement('system-err', {}, [escapeLines(remarks.join('\n'))])];
}

function durationMs({ created_at: from, finished_at, downloaded_at }: ItemReport): number {
  const to = downloaded_at ?? finished_at;
  return from === null || to === null ? 0 : Math.max(0, Date.parse(to) - Date.parse(from));
}

/** Seconds with three decimals, as in the schema. */
function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

/** A JUnit document. The schema of Jenkins knows skipped tests in suites only. @param suites elements */
export function writeDocument(
  { skipped: _, ...totals }: Readonly<Record<string, string | number>>,
  suites: readonly string[],
): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeElement('testsuites', totals, suites)}\n`;
}

/** One element of XML; its children are elements or escaped text. */
export function writeElement(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  children: readonly string[] = [],
): string {
  const pairs = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`);
  const start = `<${name}${pairs.join('')}`;
  if (children.length === 0) return `${start}/>`;
  const [first = ''] = children;
  const inside = first.startsWith('<') ? `\n${children.join('\n')}\n` : children.join('');
  return `${start}>${inside}</${name}>`;
}

/** Escapes text of several lines for XML. */
export function escapeLines(text: string): string {
  return text.split('\n').map(escapeXml).join('\n');
}

function escapeXml(text: string): string {
  return escapeUTF8(showInvisible(text));
}

// C0 and C1 controls, lone halves of surrogate pairs, characters that reorder text, and what XML forbids.
const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: matching them is the point
  /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Replaces such characters with escapes like `\u001b`, so that text from outside stays on one line and does nothing. */
export function showInvisible(text: string): string {
  return text.replace(
    INVISIBLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
