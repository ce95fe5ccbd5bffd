/** The suite as a command: from arguments to an exit code. */

import { RULES } from '../rules.ts';
import { runRule } from '../run-rule.ts';
import { readArguments, USAGE, UsageError } from './arguments.ts';
import { connect, type Environment } from './connect.ts';
import { count, formatCount, formatJson, formatRow, type Verdict } from './report.ts';

export interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** Exit codes. */
const PASSED = 0;
const FAILED = 1;
const NOT_BEGUN = 2;

/** Runs the rules chosen by the arguments. Resolves with the exit code and never rejects. */
export async function main(
  argv: readonly string[],
  env: Environment,
  { out, err }: Streams,
): Promise<number> {
  try {
    const given = readArguments(argv);
    if (given === null) {
      out(USAGE);
      return PASSED;
    }
    const rules = RULES.filter(({ id }) => id.includes(given.only));
    if (rules.length === 0) throw new UsageError(`--only: no rule has "${given.only}" in its id`);
    const { service, close } = await connect(given, env);
    const verdicts: Verdict[] = [];
    try {
      for (const rule of rules) {
        const verdict = { rule, outcome: await runRule(rule, service) };
        verdicts.push(verdict);
        if (given.output === 'table') out(`${formatRow(verdict)}\n`);
      }
    } finally {
      await close();
    }
    const counted = count(verdicts);
    out(given.output === 'json' ? `${formatJson(verdicts)}\n` : `\n${formatCount(counted)}\n`);
    return counted.failed === 0 ? PASSED : FAILED;
  } catch (error) {
    const isUsage = error instanceof UsageError;
    err(`${error instanceof Error ? error.message : String(error)}\n${isUsage ? `\n${USAGE}` : ''}`);
    return NOT_BEGUN;
  }
}
