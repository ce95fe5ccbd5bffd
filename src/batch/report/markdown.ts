/** Writes a batch as Markdown, for a ticket or the summary of a CI run. Source: CommonMark; GFM, "Tables" and "Autolinks". */

import { relative } from 'node:path';
import { formatBytes } from '../../base/amounts.ts';
import { type BatchFacts, FAILED_STATES, type ReportHead, type ShardReport } from './batch-facts.ts';
import { describeCredits, ITEM_STATES, type ItemReport } from './item-report.ts';
import { cutsOf, describeUse, fastOf } from './provenance.ts';
import { describeMissing } from './shard-facts.ts';
import { showInvisible } from './visible-text.ts';

export function writeMarkdown(facts: BatchFacts, head: ReportHead): string {
  const failed = facts.items.filter(({ state }) => FAILED_STATES.some((each) => each === state));
  const parts = [
    [`# ${head.folders.map(escapeMarkdown).join(', ')}`],
    [summary(facts, head)],
    problems(facts),
    facts.shards.length === 0 ? [] : ['## Shards', table(SHARD_HEAD, facts.shards.map(shardRow))],
    failed.length === 0 ? [] : ['## What failed', table(FAILURE_HEAD, failed.map(failureRow))],
    describeProvenance(facts.items),
    facts.items.length === 0
      ? []
      : [
          '## Items',
          table(
            ITEM_HEAD,
            facts.items.map((item) => itemRow(item, head.folders[0] ?? '')),
          ),
        ],
  ];
  return `${parts.flat().join('\n\n')}\n`;
}

function summary({ items, counts, credits, next_deadline }: BatchFacts, { madeAt }: ReportHead): string {
  const states = ITEM_STATES.filter((state) => counts[state] > 0).map((state) => `${counts[state]} ${state}`);
  const lines = [
    `${items.length === 1 ? '1 item' : `${items.length} items`} at ${madeAt}: ${states.join(', ') || 'no job was requested yet'}.`,
  ];
  if (credits !== null) lines.push(describeCredits(credits, items.length));
  if (next_deadline !== null)
    lines.push(`The first download link of a result that was not downloaded expires at ${next_deadline}.`);
  return lines.join(' ');
}

function problems(facts: BatchFacts): string[] {
  const { open_questions, stray_jobs, damaged } = facts;
  const missing = describeMissing(facts);
  const lines = missing === null ? [] : [missing];
  if (open_questions.length > 0) {
    lines.push(`Requests without a response: ${open_questions.map(escapeMarkdown).join(', ')}.`);
  }
  if (damaged > 0) lines.push(`The journal is damaged in ${damaged} places.`);
  if (stray_jobs.length > 0)
    lines.push(`Jobs without an item: ${stray_jobs.map(escapeMarkdown).join(', ')}.`);
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
    if (provenance === undefined) return [];
    const engines = provenance.engines.map(describeUse).join('; ');
    return [[label, engines, cutsOf(provenance)?.numbers ?? '', fastOf(provenance)?.numbers ?? '']];
  });
  return rows.length === 0 ? [] : ['## How it was made', table(PROVENANCE_HEAD, rows)];
}

const ITEM_HEAD = ['item', 'kind', 'state', 'job', 'credits', 'files'];

function itemRow(item: ItemReport, only: string): string[] {
  const { label, kind, state, job_id, files, folder = only } = item;
  const written = files.map(({ asset, path, bytes }) => {
    const name = `${relative(folder, path)} (${formatBytes(bytes)})`;
    return asset === null ? name : `${asset}: ${name}`;
  });
  return [label, kind, state, job_id ?? '', describeCharge(item), written.join(', ')];
}

function describeCharge({ job_id: job, credits }: ItemReport): string {
  if (credits === null) return job === null ? '' : 'unknown';
  return String(credits.charged);
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
