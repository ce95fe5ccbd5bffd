/** The form of the data on stdout, out of --output, --jq and --fields. */

import type { Command } from '../context/command.ts';
import type { OutputMode } from '../context/context.ts';
import { Failure } from '../errors/failure.ts';
import type { GlobalValues } from './global-options.ts';
import type { JqFilter } from './jq.ts';

interface ChosenOutput {
  readonly output: OutputMode;
  readonly fields: readonly string[] | null;
  readonly jq: JqFilter | null;
}

/** --jq and --fields speak of JSON, so they ask for it where nothing else does. */
export function outputMode({
  output,
  jq,
  fields,
}: Pick<GlobalValues, 'output' | 'jq' | 'fields'>): OutputMode {
  return output ?? (jq === undefined && fields.length === 0 ? 'table' : 'json');
}

/**
 * Checks the three against one another and against the command, before it runs.
 * @throws Failure of category usage that names what would do
 */
export async function chooseOutput(
  global: Pick<GlobalValues, 'output' | 'jq' | 'fields'>,
  command: Pick<Command, 'fields'>,
): Promise<ChosenOutput> {
  const output = outputMode(global);
  const fields = global.fields.length === 0 ? null : global.fields;
  if (fields !== null) checkFields(fields, output, command.fields?.() ?? []);
  if (global.jq === undefined) return { output, fields, jq: null };
  if (output !== 'json' && output !== 'ndjson') {
    throw wrong(
      `--jq works on JSON, not on --output ${output}`,
      'Leave --output out, or use json or ndjson.',
    );
  }
  const { compileJq } = await import('./jq.ts');
  return { output, fields, jq: await compileJq(global.jq) };
}

function checkFields(fields: readonly string[], output: OutputMode, known: readonly string[]): void {
  if (known.length === 0) {
    throw wrong('this command prints no records, so --fields has nothing to choose from', 'Use --jq.');
  }
  if (output === 'id') throw wrong('--fields and --output id exclude each other', 'Leave one of them out.');
  const unknown = fields.filter((field) => !known.includes(field));
  if (unknown.length === 0) return;
  throw wrong(`unknown field in --fields: ${unknown.join(', ')}`, `Available: ${known.join(', ')}.`);
}

function wrong(message: string, advice: string): Failure {
  return new Failure({ category: 'usage', code: 'OUTPUT_INVALID', message, advice });
}
