/** Moves an account to a database and on to another folder, in a process of its own that a test kills. */
import { moveAccount } from '../../src/service/move/move-account.ts';

const [, , from = '', database = '', to = ''] = process.argv;
const options = { now: Date.now, signal: new AbortController().signal };
process.stdout.write('begun\n');
await moveAccount({ stateDir: from }, { database, stateDir: from }, options);
await moveAccount({ database, stateDir: from }, { stateDir: to }, options);
