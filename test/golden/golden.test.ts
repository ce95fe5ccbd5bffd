/**
 * Records what commands print and how they end: a file of text for each group of cases. After a change on purpose, run
 * `npx vitest run test/golden -u` and review the diff.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Ended } from '../commands/support/run-vloc.ts';
import { ACCOUNT } from './cases/account.ts';
import { EXAMPLES, openDesks } from './cases/examples.ts';
import { HELP } from './cases/help.ts';
import { INPUTS } from './cases/inputs.ts';
import { MEDIA } from './cases/media.ts';
import { RECORDS } from './cases/records.ts';
import { SERVICE } from './cases/service.ts';
import { USAGE } from './cases/usage.ts';
import { type Case, nameCase, openStages } from './stage.ts';

interface Group {
  readonly name: string;
  readonly cases: readonly Case[];
  /** Default: the stages of failures. */
  readonly open?: () => Promise<(each: Case) => Promise<Ended>>;
}

const GROUPS: readonly Group[] = [
  { name: 'help', cases: HELP },
  { name: 'examples', cases: EXAMPLES, open: openDesks },
  { name: 'usage', cases: USAGE },
  { name: 'inputs', cases: INPUTS },
  { name: 'service', cases: SERVICE },
  { name: 'records', cases: RECORDS },
  { name: 'account', cases: ACCOUNT },
  { name: 'media', cases: MEDIA },
];

/** A group is some hundred runs, on a machine that may be busy with something else. */
const PATIENCE_MS = 900_000;

/** One case as text: exit code and both streams. Control characters are shown as escapes. */
function describeEnd({ code, stdout, stderr }: Ended): string {
  return [`exit ${code}\n`, describeStream('stdout', stdout), describeStream('stderr', stderr)].join('');
}

function describeStream(name: string, text: string): string {
  if (text === '') return '';
  const shown = text.replace(/[^\P{Cc}\n]/gu, (character) => JSON.stringify(character).slice(1, -1));
  return `--- ${name}\n${shown}${shown.endsWith('\n') ? '' : '\n(no line break at the end)\n'}`;
}

describe('vloc prints and ends as recorded', () => {
  for (const { name, cases, open = openStages } of GROUPS) {
    it(`in the group ${name}`, { timeout: PATIENCE_MS }, async () => {
      const run = await open();
      const sections: string[] = [];
      // One after another: the cases of a group share a service.
      for (const each of cases) sections.push(`=== ${nameCase(each)}\n${describeEnd(await run(each))}\n`);
      await expect(sections.join('')).toMatchFileSnapshot(join(import.meta.dirname, `${name}.txt`));
    });
  }
});
