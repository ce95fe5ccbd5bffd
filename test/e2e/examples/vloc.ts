/** What `bin/vloc.js` does with the build, with the sources: for shells that call vloc. */
import { start } from '../../../src/cli/start.ts';

process.exitCode = await start(process);
