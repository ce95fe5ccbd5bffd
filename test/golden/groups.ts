/** All recorded groups; each has a file of its name. */
import type { Ended } from '../commands/support/run-vloc.ts';
import { ACCOUNT } from './cases/account.ts';
import { EXAMPLES, openDesks } from './cases/examples.ts';
import { HELP } from './cases/help.ts';
import { INPUTS } from './cases/inputs.ts';
import { MEDIA } from './cases/media.ts';
import { RECORDS } from './cases/records.ts';
import { SERVICE } from './cases/service.ts';
import { USAGE } from './cases/usage.ts';
import type { Case } from './stage.ts';

export interface Group {
  readonly name: string;
  readonly cases: readonly Case[];
  /** Default: the stages of failures. */
  readonly open?: () => Promise<(each: Case) => Promise<Ended>>;
}

export const GROUPS: readonly Group[] = [
  { name: 'help', cases: HELP },
  { name: 'examples', cases: EXAMPLES, open: openDesks },
  { name: 'usage', cases: USAGE },
  { name: 'inputs', cases: INPUTS },
  { name: 'service', cases: SERVICE },
  { name: 'records', cases: RECORDS },
  { name: 'account', cases: ACCOUNT },
  { name: 'media', cases: MEDIA },
];
