/** Runs the command of --exec for each event, in sequence. */
import { spawn } from 'node:child_process';
import { type Environment, withoutSecrets } from '../../profiles/environment.ts';
import type { Output } from '../context/context.ts';
import type { ReceivedEvent } from './receiver.ts';

interface EventCommands {
  /** Queues the command for an event and returns immediately. */
  run(event: ReceivedEvent): void;
  /** Resolves when all have ended. */
  idle(): Promise<void>;
}

interface EventCommandOptions {
  /** Run by the shell. */
  readonly command: string;
  readonly env: Environment;
  readonly cwd: string;
  /** Gets stdout and stderr of the command; stdout of vloc is for data only. */
  readonly output: Output;
  /** Abort ends the running command and starts no other. */
  readonly signal: AbortSignal;
  /** Called for every command that failed; `reason` is one sentence without the final stop. */
  readonly onFailed: (event: ReceivedEvent, reason: string) => void;
}

/** Creates the queue of commands. */
export function createEventCommands(options: EventCommandOptions): EventCommands {
  let last = Promise.resolve();
  return {
    run(event) {
      last = last.then(async () => {
        if (options.signal.aborted) return;
        const fault = await runCommand(event, options);
        if (fault !== null && !options.signal.aborted) options.onFailed(event, fault);
      });
    },
    idle: () => last,
  };
}

/** Null on success, else the reason. */
async function runCommand(event: ReceivedEvent, options: EventCommandOptions): Promise<string | null> {
  const { endTree, trackTree } = await import('../../media/programs/programs.ts');
  const child = spawn(options.command, {
    shell: true,
    cwd: options.cwd,
    env: environmentOf(event, options.env),
    stdio: 'pipe',
    // A group of its own, so that a pipeline ends as a whole.
    detached: true,
    windowsHide: true,
  });
  const { pid } = child;
  const end = () => pid !== undefined && endTree(pid);
  const forget = pid === undefined ? () => {} : trackTree(pid);
  options.signal.addEventListener('abort', end, { once: true });
  child.stdout.pipe(options.output, { end: false });
  child.stderr.pipe(options.output, { end: false });
  // The command need not read its stdin.
  child.stdin.on('error', () => {}).end(event.body);
  try {
    return await new Promise((resolve) => {
      child.once('error', (error) => resolve(`it could not be started: ${error.message}`));
      child.once('close', (code, signal) => resolve(faultOf(code, signal)));
    });
  } finally {
    options.signal.removeEventListener('abort', end);
    forget();
  }
}

function faultOf(code: number | null, signal: NodeJS.Signals | null): string | null {
  if (code === 0) return null;
  return code === null ? `it was ended by ${signal}` : `it ended with exit code ${code}`;
}

/** The environment without secrets, plus the event in variables; missing facts are empty. */
function environmentOf(event: ReceivedEvent, env: Environment): Record<string, string | undefined> {
  const { id, type, job } = event;
  const facts = {
    ID: id,
    TYPE: type,
    JOB_ID: job.id,
    JOB_KIND: job.kind,
    JOB_STATUS: job.status,
    CLIENT_REFERENCE: job.client_reference,
    DETAIL_URL: job.detail_url,
  };
  // A NUL ends a variable early, so Node refuses to pass one.
  const own = Object.entries(facts).map(([name, value]) => [
    `VLOC_EVENT_${name}`,
    (value ?? '').replaceAll('\0', ''),
  ]);
  return { ...withoutSecrets(env), ...Object.fromEntries(own) };
}
