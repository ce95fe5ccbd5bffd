/** A failure on stderr: for people what, why and what to do; for programs one JSON object. */

import type { Failure } from '../base/failure.ts';
import { failureDocument } from '../base/failure-document.ts';
import type { Io } from '../commands/context/context.ts';
import { type GlobalValues, outputMode } from '../commands/context/global-options.ts';
import { FORMS } from '../commands/context/output/forms.ts';
import { escapeControls, escapeRows } from './terminal/escape.ts';
import { loadStyle, type Style } from './terminal/style.ts';
import { widthOf, wrapProse, wrapRows } from './terminal/wrap.ts';

/** Options that select the output format of a failure. */
export type FailureFormat = Pick<GlobalValues, 'output' | 'jq' | 'fields' | 'color'>;

/** Writes the failure; as JSON when the data of the run were asked for in one of its forms. */
export async function reportFailure(failure: Failure, io: Io, asked: FailureFormat): Promise<void> {
  if (FORMS[outputMode(asked)].text === 'json') {
    io.stderr.write(`${JSON.stringify(failureDocument(failure))}\n`);
  } else {
    io.stderr.write(failureText(failure, await loadStyle(io, asked.color), io));
  }
  if (isVerbose(io) && failure.stack !== undefined) io.stderr.write(`${escapeRows(failure.stack)}\n`);
}

function isVerbose(io: Io): boolean {
  return io.env.VLOC_DEBUG === '1';
}

function failureText(failure: Failure, style: Style, io: Pick<Io, 'cwd' | 'stderr'>): string {
  const width = widthOf(io);
  const { code, message, advice, requestId, errors, jobId } = failure.facts;
  const rows = [`${style.bad('✖')} ${wrapRows(escapeControls(message), width, 2)}`];
  for (const error of errors ?? []) {
    const folder = `${io.cwd}/`;
    const pointer = error.pointer.startsWith(folder) ? error.pointer.slice(folder.length) : error.pointer;
    rows.push(`  ${wrapProse(`${escapeControls(pointer)}: ${escapeControls(error.detail)}`, width, 2, 4)}`);
  }
  if (advice !== undefined) rows.push(`  ${wrapRows(escapeRows(advice), width, 2)}`);
  const origin = [code, jobId, requestId].filter((part) => part !== undefined).map(escapeControls);
  rows.push(`  ${style.faint(origin.join(' · '))}`);
  return `${rows.join('\n')}\n`;
}
