/** What a person may want to do with a result. */
import { relative } from 'node:path';
import type { Context } from '../../context/context.ts';
import { quoteForShell, redoCommand } from '../../context/printed-command.ts';
import type { Outcome } from './outcome.ts';

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'start ""' };

const TEXT = /\.(srt|vtt|ass|jsonl?)$/i;

/** Says how to play, keep and redo the results; for people only, so not in the forms for programs. */
export function tellNextSteps(context: Context, outcomes: readonly Outcome[]): void {
  if (context.output !== 'table') return;
  const [file] = outcomes.flatMap((outcome) => outcome.files);
  const expiry = outcomes[0]?.job?.expires_at ?? null;
  if (file === undefined) return;
  const { note } = context.terminal;
  note('');
  note(`${TEXT.test(file.path) ? 'Read' : 'Play'} it:  ${openCommand(context, file.path)}`);
  note(`Keep it:  the service deletes its copy ${expiry === null ? 'after 24 h' : `at ${expiry}`}.`);
  note(`Start over (charged again): ${redoCommand(context)}`);
}

/** The command that plays a video or a sound, or shows a text. */
export function openCommand({ io }: Pick<Context, 'io'>, path: string): string {
  const shown = relative(io.cwd, path);
  const opener = OPENERS[io.platform] ?? (TEXT.test(path) ? 'less' : 'ffplay -autoexit');
  return `${opener} ${quoteForShell(shown.startsWith('..') ? path : shown, io.platform)}`;
}
