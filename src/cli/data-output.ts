/** The data on stdout: their form (--output, --jq, --fields), and the escaping of text from outside. */

import { Failure, usageFailure } from '../base/failure.ts';
import { asFailure } from '../base/failure-document.ts';
import type { Command } from '../commands/context/command.ts';
import { Interruption, type Io } from '../commands/context/context.ts';
import { type GlobalValues, outputMode } from '../commands/context/global-options.ts';
import { FORMS, type OutputMode } from '../commands/context/output/forms.ts';
import type { OutputForm } from '../commands/context/output/presentation.ts';
import type { JqFilter, JqRun } from './jq.ts';
import { escapeColumns, escapeControls, escapeJson, escapeRows } from './terminal/escape.ts';

interface ChosenOutput {
  readonly output: OutputMode;
  readonly fields: readonly string[] | null;
  readonly jq: JqFilter | null;
}

/**
 * Checks the three against one another and against the command, before it runs.
 * @throws Failure of category usage that says what is valid
 */
export async function chooseOutput(
  global: Pick<GlobalValues, 'output' | 'jq' | 'fields'>,
  command: Pick<Command, 'fields'>,
  run: JqRun,
): Promise<ChosenOutput> {
  const output = outputMode(global);
  const fields = global.fields.length === 0 ? null : global.fields;
  if (fields !== null) checkFields(fields, output, command.fields?.() ?? []);
  if (global.jq === undefined) return { output, fields, jq: null };
  if (FORMS[output].text !== 'json') {
    throw outputFailure(
      `--jq works on JSON, not on --output ${output}`,
      'Leave --output out, or use json or ndjson.',
    );
  }
  const { compileJq } = await import('./jq.ts');
  return { output, fields, jq: await compileJq(global.jq, run) };
}

function checkFields(fields: readonly string[], output: OutputMode, known: readonly string[]): void {
  if (known.length === 0) {
    throw outputFailure('this command prints no records, so --fields cannot select any', 'Use --jq.');
  }
  if (FORMS[output].part === 'ids')
    throw outputFailure('--fields and --output id cannot be combined', 'Leave one of them out.');
  const unknown = fields.filter((field) => !known.includes(field));
  if (unknown.length === 0) return;
  throw outputFailure(`unknown field in --fields: ${unknown.join(', ')}`, `Available: ${known.join(', ')}.`);
}

function outputFailure(message: string, advice: string): Failure {
  return usageFailure('OUTPUT_INVALID', message, advice);
}

interface DataOutput {
  /** One line, or one JSON document; a table has cells that are escaped already. */
  readonly print: (text: string) => void;
  /** Resolves when everything is written: null, or the failure of the expression or the interruption, after which nothing was written. */
  readonly finish: () => Promise<Error | null>;
}

/** All data of a run pass through one of these, in the order of printing. */
export function createDataOutput(io: Pick<Io, 'stdout'>, mode: OutputMode, jq: JqFilter | null): DataOutput {
  const write = (text: string) => io.stdout.write(`${text}\n`);
  if (jq === null) {
    const makeSafe = ESCAPES[FORMS[mode].text];
    return { print: (text) => write(makeSafe(text)), finish: async () => null };
  }
  // Text is for other programs unchanged, but must not control a terminal.
  const escapeText = io.stdout.isTTY === true ? escapeRows : (text: string) => text;
  let failure: Error | null = null;
  let written = Promise.resolve();
  const writeValues = async (json: string) => {
    if (failure !== null) return;
    try {
      for (const value of await jq.apply(json)) write(showValue(value, escapeText));
    } catch (error) {
      failure = error instanceof Failure || error instanceof Interruption ? error : asFailure(error);
    }
  };
  return {
    print: (json) => {
      written = written.then(() => writeValues(json));
    },
    finish: async () => {
      await written;
      return failure;
    },
  };
}

/** Text without its quotes, as `jq --raw-output`; everything else as JSON. */
function showValue(json: string, escapeText: (text: string) => string): string {
  const value: unknown = json.startsWith('"') ? JSON.parse(json) : null;
  return typeof value === 'string' ? escapeText(value) : escapeJson(json);
}

const ESCAPES: Readonly<Record<OutputForm['text'], (text: string) => string>> = {
  json: escapeJson,
  // Cells are escaped already, and colours must act; what prints JSON here is as safe as elsewhere.
  'laid out': escapeJson,
  columns: escapeColumns,
  line: escapeControls,
};
