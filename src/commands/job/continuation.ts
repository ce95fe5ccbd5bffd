/** The commands that take up where a run left off. */

import type { Delivery } from '../../batch/plan/delivery.ts';
import { fixStem } from '../../batch/plan/result-name.ts';
import type { RunOutcome } from '../../batch/run/batch.ts';
import type { Job } from '../../client/index.ts';
import type { Context } from '../context.ts';
import { quoteForShell } from '../format.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** How this tool is called here: in a checkout, and wherever npm started it, the shell knows no `vloc`. */
export function programWords(env: Environment): readonly string[] {
  return env.npm_command === undefined ? ['vloc'] : ['npx', 'vloc'];
}

/** Said where jobs of the embedded service are left running. */
export const EMBEDDED_STOPS =
  'The embedded service works only while a vloc runs; its jobs go on with the next one.';

/** `vloc jobs wait loc_… --out … --name …`: waits for the job and puts its result where the run would have. */
export function continueCommand(
  job: Pick<Job, 'id'>,
  stem: string,
  delivery: Delivery,
  env: Environment,
): string {
  const words = [
    ...programWords(env),
    'jobs',
    'wait',
    job.id,
    '--out',
    delivery.folder,
    '--name',
    fixStem(delivery.template, stem),
  ];
  if (delivery.existing === 'replace') words.push('--clobber');
  if (delivery.existing === 'skip') words.push('--skip-existing');
  return words.map(quoteForShell).join(' ');
}

/** The same command once more, paid anew, replacing what it wrote. */
export function redoCommand(commandLine: readonly string[], env: Environment): string {
  const missing = ['--fresh', '--clobber'].filter((flag) => !commandLine.includes(flag));
  return [...programWords(env), ...commandLine, ...missing].map(quoteForShell).join(' ');
}

/** What begins anew, and what leaves the results to others. */
const NOT_ONWARD: ReadonlySet<string> = new Set(['--fresh', '--detach']);

/** The same command again, so that it goes on where this run ends, pays nothing twice and fetches the results. */
export function sameCommand(commandLine: readonly string[], env: Environment): string {
  const words = commandLine.filter((word) => !NOT_ONWARD.has(word));
  return [...programWords(env), ...words].map(quoteForShell).join(' ');
}

/** Says how an interrupted run stands, and how to go on. */
export function tellStop(
  context: Context,
  outcomes: readonly RunOutcome[],
  delivery: Delivery,
  isEmbedded: boolean,
): void {
  const { note } = context.terminal;
  const running = outcomes.filter(isRunning).length;
  const done = outcomes.filter(({ state }) => state.phase === 'done').length;
  if (running === 0 && done === 0) note('Stopped before a job was made; nothing is charged.');
  else if (outcomes.length === 1) note('Stopped waiting; the job is kept and nothing is lost.');
  else {
    const counts = `${done} of ${outcomes.length} done, ${running} running`;
    note(`Stopped waiting: ${counts}. The jobs are kept and nothing is lost.`);
  }
  tellContinuation(context, outcomes, delivery, isEmbedded);
}

/** Says with which command to go on. */
export function tellContinuation(
  { terminal, commandLine, io }: Context,
  outcomes: readonly RunOutcome[],
  delivery: Delivery,
  isEmbedded: boolean,
): void {
  const { note } = terminal;
  if (isEmbedded && outcomes.some(isRunning)) {
    note(EMBEDDED_STOPS);
  }
  note('Continue with:');
  note(`  ${sameCommand(commandLine, io.env)}`);
  const [only] = outcomes;
  if (outcomes.length !== 1 || only === undefined || !isRunning(only)) return;
  const { item, state, partJobs } = only;
  // Results of parts are joined by the command itself.
  if (partJobs !== undefined) return;
  // That command would put the service's own format under the name of another.
  if (state.jobId === null || delivery.rewrite !== undefined) return;
  note('or, from anywhere:');
  note(`  ${continueCommand({ id: state.jobId }, item.input.stem, delivery, io.env)}`);
}

/** A job that was made and whose result is not here. */
function isRunning({ state }: RunOutcome): boolean {
  return state.phase === 'left' && state.jobId !== null;
}
