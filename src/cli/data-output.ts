/** Data on their way to stdout: nothing from outside acts on a terminal, and --jq has its say. */

import type { Io, OutputMode } from '../context/context.ts';
import { Failure } from '../errors/failure.ts';
import { asFailure } from './failures.ts';
import type { JqFilter } from './jq.ts';
import { escapeColumns, escapeControls, escapeJson, escapeRows } from './terminal/escape.ts';

interface DataOutput {
  /** One line, or one JSON document; a table has cells that are escaped already. */
  readonly print: (text: string) => void;
  /** Resolves when everything is written: null, or what the expression met, after which nothing was written. */
  readonly finish: () => Promise<Failure | null>;
}

/** Everything of a run goes through one of these, in the order in which it was printed. */
export function createDataOutput(io: Pick<Io, 'stdout'>, mode: OutputMode, jq: JqFilter | null): DataOutput {
  const write = (text: string) => io.stdout.write(`${text}\n`);
  if (jq === null) {
    const makeSafe = ESCAPES[mode];
    return { print: (text) => write(makeSafe(text)), finish: async () => null };
  }
  // Text is for other programs as it is, but a terminal must not obey it.
  const escapeText = io.stdout.isTTY === true ? escapeRows : (text: string) => text;
  let failure: Failure | null = null;
  let written = Promise.resolve();
  const writeValues = async (json: string) => {
    if (failure !== null) return;
    try {
      for (const value of await jq.apply(json)) write(showValue(value, escapeText));
    } catch (error) {
      failure = error instanceof Failure ? error : asFailure(error);
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

const ESCAPES: Readonly<Record<OutputMode, (text: string) => string>> = {
  // Cells are escaped already, and colours must act; what prints JSON here is as safe as elsewhere.
  table: escapeJson,
  json: escapeJson,
  ndjson: escapeJson,
  plain: escapeColumns,
  id: escapeControls,
};
