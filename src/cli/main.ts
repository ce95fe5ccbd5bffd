/** One run: parse, run the command, turn whatever comes out into an exit code. */
import { Failure } from '../client/failure.ts';
import { Interruption } from '../commands/context.ts';
import type { Io } from '../commands/io.ts';
import { EXIT_CODES } from './exit-codes.ts';
import { asFailure } from './failures.ts';
import type { GlobalValues } from './global-options.ts';
import { parseArguments } from './program.ts';

/**
 * Runs vloc once.
 * @param argv the arguments behind the name of the program
 * @returns the exit code, one of `EXIT_CODES`
 */
export async function main(argv: readonly string[], io: Io): Promise<number> {
  io.stdout.on('error', ignoreClosedPipe);
  const interruption = listenForSignals(io);
  let asked = guessGlobal(argv);
  try {
    const invocation = await parseArguments(argv, io);
    if (invocation.type === 'answered') return invocation.code;
    asked = invocation.global;
    io.stderr.on('error', ignoreClosedPipe);
    // Loaded here, so that help and version do not pay for colours and progress.
    const { createTerminal } = await import('./terminal/terminal.ts');
    const terminal = createTerminal(io, invocation.global);
    return await invocation.command.run(
      {
        io,
        output: asked.output,
        terminal,
        signal: interruption.signal,
        print: (line) => io.stdout.write(`${line}\n`),
        commandLine: argv,
      },
      invocation.operands,
      invocation.options,
    );
  } catch (error) {
    if (error instanceof Interruption) {
      return error.signalName === 'SIGINT' ? EXIT_CODES.interrupted.code : EXIT_CODES.terminated.code;
    }
    const failure = error instanceof Failure ? error : asFailure(error);
    const { reportFailure } = await import('./report-failure.ts');
    await reportFailure(failure, io, asked);
    return EXIT_CODES[failure.facts.category].code;
  } finally {
    interruption.stop();
  }
}

/** A reader such as `head` that has had enough is no failure of ours. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

/** The first signal asks the command to stop, the second leaves at once. */
function listenForSignals(io: Io): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const stop = io.onSignal((name) => {
    if (controller.signal.aborted) {
      io.abandon(name === 'SIGINT' ? EXIT_CODES.interrupted.code : EXIT_CODES.terminated.code);
    }
    controller.abort(new Interruption(name));
  });
  return { signal: controller.signal, stop };
}

/** Used until the arguments are parsed: a program that asked for JSON gets a wrong flag reported as JSON too. */
function guessGlobal(argv: readonly string[]): Pick<GlobalValues, 'output' | 'color'> {
  const output = /(?:^| )(?:--output|-o)[ =](json|ndjson)(?: |$)/.exec(argv.join(' '))?.[1];
  return { output: output === 'json' || output === 'ndjson' ? output : 'table', color: 'auto' };
}
