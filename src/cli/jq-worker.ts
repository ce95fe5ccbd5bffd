/** Runs the interpreter of jq in a thread of its own: an expression may never end. */
import { parentPort } from 'node:worker_threads';
import { raw } from 'jq-wasm';

/** One run of a program that reads no input. */
export interface JqCall {
  readonly program: string;
  readonly flags: readonly string[];
}

/** What the program printed, or jq's own words about why it failed. */
export type JqAnswer = { readonly printed: string } | { readonly failed: string };

parentPort?.on('message', async ({ program, flags }: JqCall) => {
  parentPort?.postMessage(await run({ program, flags }));
});

async function run({ program, flags }: JqCall): Promise<JqAnswer> {
  try {
    return { printed: await raw('', program, ['-n', '-c', ...flags]) };
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) };
  }
}
