import { flagOption } from '../../base/option.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { completeCommands } from '../context/printed-command.ts';
import { lockFolders, runChecks } from './checks.ts';
import { checksFailure, createCheckRunner, printFindings } from './findings.ts';
import { clearLocks } from './locks.ts';

export const doctor: Command = defineCommand({
  options: {
    clearLocks: flagOption('remove locks of processes that have died, before the checks'),
  },
  examples: [
    { command: 'vloc doctor', explains: 'diagnose problems and show how to fix them' },
    { command: 'vloc doctor --output json', explains: 'the same findings for a report or a program' },
    { command: 'vloc doctor --output id', explains: 'only the names of the checks that found something' },
  ],
  notes: [
    'One signed request reads the balance; nothing else is sent, and no secret is shown. Each check takes at most 5 seconds.',
    'Without --clear-locks nothing is changed. With it, locks of running processes are kept, and it may take 15 seconds.',
    'Exit code 0: no check failed; 4: configuration, credentials or engines; 10: disk; 7: network. Warnings do not count.',
  ],
  schemas: async () => (await import('./outputs.ts')).FINDINGS,
  run: async (context, _operands, options) => {
    // Not one of the checks, which take 5 seconds at most: a dead holder on another machine is recognized later.
    if (options.clearLocks) {
      const removed = await clearLocks(lockFolders(context));
      context.terminal.note(`Removed ${removed} stale ${removed === 1 ? 'lock' : 'locks'}.`);
    }
    const findings = await runChecks(context, createCheckRunner(context.signal, context.io.checkMs));
    await printFindings(
      context,
      findings.map(({ fix, ...finding }) =>
        fix === undefined ? finding : { ...finding, fix: completeCommands(fix, context) },
      ),
    );
    const failure = checksFailure(findings);
    if (failure !== null) throw failure;
    return 0;
  },
});
