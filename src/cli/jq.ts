/** jq expressions over the JSON of a run. The interpreter is loaded when an expression is given. */
import { Failure, usageFailure } from '../base/failure.ts';

export interface JqFilter {
  /**
   * The results of the expression for one JSON document: the JSON of one value each.
   * @throws Failure of category usage when it does not fit the data, or the data are too large for it
   */
  apply(json: string): Promise<readonly string[]>;
}

/** The interpreter passes a document over its stack, which is little larger. */
const LARGEST_BYTES = 900_000;

/** The interpreter copies all of its output for each byte of it: short pieces keep that from growing with its square. */
const PIECE_CHARACTERS = 32_768;

/**
 * Compiles an expression before anything is sent.
 * @throws Failure of category usage with jq's own words
 */
export async function compileJq(expression: string): Promise<JqFilter> {
  const { raw } = await import('jq-wasm');
  const run = async (program: string, flags: readonly string[]) => {
    try {
      return await raw('', program, ['-n', '-c', ...flags]);
    } catch (error) {
      throw new Failure(describe(error, expression), { cause: error });
    }
  };
  // `empty` returns nothing: the expression is compiled and never run.
  await run(`empty | ${expression}`, []);
  return {
    async apply(json) {
      if (Buffer.byteLength(json) > LARGEST_BYTES) throw jqTooLargeFailure(json);
      let text = '';
      for (let from = 0; ; from += PIECE_CHARACTERS) {
        const piece = `.[${from}:${from + PIECE_CHARACTERS}]`;
        // The line break ends a comment that the expression may end with.
        const program = `[$document | ${expression}\n| tojson] | join("\\n") | [length, ${piece}]`;
        const [length, part]: [number, string] = JSON.parse(
          await run(program, ['--argjson', 'document', json]),
        );
        text += part;
        if (from + PIECE_CHARACTERS >= length) break;
      }
      return text === '' ? [] : text.split('\n');
    },
  };
}

function describe(error: unknown, expression: string): Failure['facts'] {
  const said = error instanceof Error ? error.message : String(error);
  const [first = ''] = said.replace(/^.*?jq: error\s*/, '').split('\n');
  const ran = /^\(at /.test(first);
  const why = first.replace(/^(\(at [^)]*\))?:\s*/, '').replace(/ \(Unix shell quoting issues\?\).*$/, '');
  if (ran) {
    return {
      category: 'usage',
      code: 'JQ_DOES_NOT_FIT',
      message: `the jq expression does not fit the data: ${why}`,
      advice: 'The command itself succeeded; see its data with --output json.',
    };
  }
  return {
    category: 'usage',
    code: 'JQ_INVALID',
    message: `--jq ${expression} is not a valid jq expression: ${why}`,
    advice: "Nothing was sent. Quote the expression for the shell, for example --jq '.data[].id'.",
  };
}

function jqTooLargeFailure(json: string): Failure {
  return usageFailure(
    'JQ_TOO_LARGE',
    `the data are too large for --jq: ${Math.ceil(json.length / 1000)} kB`,
    'Use --output ndjson, which is filtered line by line, or pipe --output json into jq.',
  );
}
