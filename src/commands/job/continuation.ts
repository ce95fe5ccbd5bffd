/** The commands that take up where a run left off. */
import type { Job } from '../../client/index.ts';
import { quoteForShell } from '../format.ts';
import type { Delivery } from './job-plan.ts';
import { fixStem } from './result-name.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** How this tool is called here: in a checkout, and wherever npm started it, the shell knows no `vloc`. */
export function programWords(env: Environment): readonly string[] {
  return env.npm_command === undefined ? ['vloc'] : ['npx', 'vloc'];
}

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

/** The same command again, replacing what it wrote. */
export function redoCommand(commandLine: readonly string[], env: Environment): string {
  const words = commandLine.includes('--clobber') ? commandLine : [...commandLine, '--clobber'];
  return [...programWords(env), ...words].map(quoteForShell).join(' ');
}
