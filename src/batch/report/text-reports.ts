/** Writes a batch as Markdown, for a ticket or the summary of a CI run. Source: CommonMark; GFM, "Tables" and "Autolinks". */
import { dirname, relative } from 'node:path';
import { formatBytes } from '../../base/amounts.ts';
import { nameCue } from '../../protocol/subtitle-line.ts';
import { cutsOf, describeUse, fastOf } from '../item-provenance.ts';
import { type BatchFacts, FAILED_STATES, type ReportHead, type ShardReport } from './batch-facts.ts';
import { describeItemCosts } from './costs.ts';
import { ITEM_STATES, type ItemReport } from './item-report.ts';
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

/** The name of a folder of results, without the folders around all of them, which each machine has its own of. */
export function nameFolder(folder: string, { folders }: ReportHead): string {
  return relative(commonFolder(folders.map((each) => dirname(each))), folder) || '.';
}

/** The innermost folder around all of these. */
export function commonFolder([first = '', ...others]: readonly string[]): string {
  const isAround = (folder: string) => others.every((other) => `${other}/`.startsWith(`${folder}/`));
  return isAround(first) || dirname(first) === first ? first : commonFolder([dirname(first), ...others]);
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
