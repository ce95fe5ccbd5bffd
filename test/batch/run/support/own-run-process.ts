/** A run in a process of its own. Argument: JSON of `OwnRun`. */
import { runOwn } from './own-run.ts';

await runOwn(JSON.parse(process.argv[2] ?? ''));
