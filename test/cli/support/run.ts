/** The command line out of the sources, as a process of its own. */
import { start } from '../../../src/cli/start.ts';

process.exitCode = await start(process);
