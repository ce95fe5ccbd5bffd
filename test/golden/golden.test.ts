/**
 * Records what commands print and how they end: a file of text for each group of cases. After a change on purpose, run
 * `npx vitest run test/golden -u` and review the diff.
 */
import { describe, it } from 'vitest';
import { ACCOUNT } from './cases/account.ts';
import { HELP } from './cases/help.ts';
import { INPUTS } from './cases/inputs.ts';
import { MEDIA } from './cases/media.ts';
import { RECORDS } from './cases/records.ts';
import { SERVICE } from './cases/service.ts';
import { USAGE } from './cases/usage.ts';
import { PATIENCE, recordCases } from './record.ts';
import { type Case, openStages } from './stage.ts';

const GROUPS: readonly { readonly name: string; readonly cases: readonly Case[] }[] = [
  { name: 'help', cases: HELP },
  { name: 'usage', cases: USAGE },
  { name: 'inputs', cases: INPUTS },
  { name: 'service', cases: SERVICE },
  { name: 'records', cases: RECORDS },
  { name: 'account', cases: ACCOUNT },
  { name: 'media', cases: MEDIA },
];

describe('vloc prints and ends as recorded', () => {
  for (const { name, cases } of GROUPS) {
    it(`in the group ${name}`, PATIENCE, async () => recordCases(name, cases, await openStages()));
  }
});
