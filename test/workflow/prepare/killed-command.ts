/** A command in a process of its own, with small limits, that somebody kills. Arguments: those of vloc. */
import { main } from '../../../src/cli/main.ts';
import { LIMITS } from './limits.ts';

process.exitCode = await main(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  platform: process.platform,
  now: Date.now,
  limits: LIMITS,
  onSignal: () => () => undefined,
  abandon: () => undefined,
});
