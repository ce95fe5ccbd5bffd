/** A run in a process of its own. Argument: JSON of `SweptRun`. */
import { runSwept } from './swept-batch.ts';

await runSwept(JSON.parse(process.argv[2] ?? ''));
