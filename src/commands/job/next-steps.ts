/** What a person may want to do with a result. */
import { relative } from 'node:path';
import type { Context } from '../context.ts';
import { quoteForShell } from '../format.ts';
import { redoCommand } from './continuation.ts';
import type { Outcome } from './outcome.ts';

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'start ""' };

/** Says how to play, keep and redo the results; for people only, so not in the forms for programs. */
export function tellNextSteps(context: Context, outcomes: readonly Outcome[]): void {
  if (context.output !== 'table') return;
  const [file] = outcomes.flatMap((outcome) => outcome.files);
  const expiry = outcomes[0]?.job?.expires_at ?? null;
  if (file === undefined) return;
  const shown = relative(context.io.cwd, file.path);
  const opener = OPENERS[context.io.platform] ?? 'ffplay -autoexit';
  const { note } = context.terminal;
  note('');
  note(`Play it:  ${opener} ${quoteForShell(shown.startsWith('..') ? file.path : shown)}`);
  note(
    `Keep it:  it is yours and stays; the service's own copy goes ${expiry === null ? 'after 24 h' : `at ${expiry}`}.`,
  );
  note(`Redo it:  ${redoCommand(context.commandLine, context.io.env)}`);
}
