/**
 * vloc in a process of its own, with signals and streams as `vloc` has them. Waits are shortened, so that a test is over
 * soon, and videos are long after a few seconds. Arguments: those of vloc.
 */
import { STOP_SIGNALS } from '../../../src/base/exit-codes.ts';
import { main } from '../../../src/cli/main.ts';
import { SYSTEM_RUNTIME } from '../../../src/client/runtime.ts';
import { LIMITS } from '../jobs/limits.ts';

/** Long enough for several requests of other lanes in between. */
const LONGEST_WAIT_MS = 100;

const code = await main(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  platform: process.platform,
  now: Date.now,
  limits: LIMITS,
  pace: {
    runtime: {
      ...SYSTEM_RUNTIME,
      sleep: (ms, signal) => SYSTEM_RUNTIME.sleep(Math.min(ms, LONGEST_WAIT_MS), signal),
    },
  },
  onSignal: (listener) => {
    for (const name of STOP_SIGNALS) process.on(name, listener);
    return () => {
      for (const name of STOP_SIGNALS) process.off(name, listener);
    };
  },
  abandon: (status) => process.exit(status),
});
process.exit(code);
