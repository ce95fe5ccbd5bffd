import { join } from 'node:path';
import { expect } from 'vitest';
import type { Ended } from '../support/run-main.ts';
import { type Case, nameCase } from './stage.ts';

/** A group is some hundred runs, on a machine that may be busy with something else. */
export const PATIENCE = { timeout: 900_000 };

/** Compares what a group of cases prints with its recording. */
export async function recordCases(
  group: string,
  cases: readonly Case[],
  run: (each: Case) => Promise<Ended>,
): Promise<void> {
  const sections: string[] = [];
  // One after another: the cases of a group share a service.
  for (const each of cases) sections.push(`=== ${nameCase(each)}\n${describeEnd(await run(each))}\n`);
  await expect(sections.join('')).toMatchFileSnapshot(join(import.meta.dirname, `${group}.txt`));
}

/** One case as text: exit code and both streams. Control characters are shown as escapes. */
function describeEnd({ code, stdout, stderr }: Ended): string {
  return [`exit ${code}\n`, describeStream('stdout', stdout), describeStream('stderr', stderr)].join('');
}

function describeStream(name: string, text: string): string {
  if (text === '') return '';
  const shown = text.replace(/[^\P{Cc}\n]/gu, (character) => JSON.stringify(character).slice(1, -1));
  return `--- ${name}\n${shown}${shown.endsWith('\n') ? '' : '\n(no line break at the end)\n'}`;
}
