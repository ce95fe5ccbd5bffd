/** One run: parse, run the command, turn whatever comes out into an exit code. */

import { EXIT_CODES } from '../base/exit-codes.ts';
import { Failure } from '../base/failure.ts';
import { asFailure } from '../base/failure-document.ts';
import type { OptionTable, RawOptions } from '../base/option.ts';
import { Interruption, type Io, type TestSettings } from '../commands/context/context.ts';
import { FORMS, OUTPUT_MODES, outputTo } from '../commands/context/output/forms.ts';
import { type Caller, completeCommands } from '../commands/context/printed-command.ts';
import { type ServiceFlags, serviceFlags } from '../profiles/settings.ts';
import { chooseOutput, createDataOutput } from './data-output.ts';
import { type CalledInvocation, parseArguments } from './program.ts';
import { withProjectDefaults } from './project-defaults.ts';
import { type FailureFormat, reportFailure } from './report-failure.ts';
import { watchStdout, withOwnFailure } from './stdout-fault.ts';

/**
 * Runs vloc once.
 * @param argv the arguments after the name of the program
 * @returns the exit code, one of `EXIT_CODES`
 */
export async function main(argv: readonly string[], io: Io & TestSettings): Promise<number> {
  const stdout = watchStdout(io.stdout);
  const interruption = listenForSignals(io);
  let asked: FailureFormat = guessGlobal(argv);
  let service: ServiceFlags = {};
  try {
    const invocation = await parseArguments(argv, io);
    if (invocation.type === 'answered') {
      await stdout.check();
      return invocation.code;
    }
    asked = invocation.global;
    service = serviceFlags(invocation.global);
    // Loaded here, so that help and version do not pay for colours and progress.
    const { createTerminal } = await import('./terminal/terminal.ts');
    const terminal = await createTerminal(io, invocation.global, interruption.signal);
    const { output, fields, jq } = await chooseOutput(invocation.global, invocation.command, {
      signal: interruption.signal,
      advice: adviceAfterRun(invocation),
    });
    const data = createDataOutput(io, output, jq);
    const context = {
      io,
      ...outputTo(output, data.print, terminal),
      fields,
      terminal,
      signal: interruption.signal,
      fail: interruption.fail,
      onNextSignal: interruption.onNextSignal,
      printed: async () => {
        const failure = await data.finish();
        if (failure !== null) throw failure;
        await stdout.check();
      },
      addDefaults: (table: OptionTable, given: RawOptions) => {
        const called = { command: { options: table }, options: given, given: Object.keys(given) };
        return withProjectDefaults(called, io, terminal.warn);
      },
      commandLine: argv,
      service,
    };
    try {
      const options = await withProjectDefaults(invocation, io, terminal.warn);
      const code = await invocation.command.run(context, invocation.operands, options);
      await context.printed();
      interruption.throwFailure();
      return code;
    } finally {
      // An error of the command is more important than one of --jq.
      await data.finish();
      await jq?.close();
    }
  } catch (thrown) {
    const error = interruption.failure() ?? thrown;
    if (error instanceof Interruption) return EXIT_CODES[error.signalName].code;
    const own = error instanceof Failure ? error : asFailure(error);
    const fault = await stdout.fault();
    const failure = fault === null ? own : withOwnFailure(fault, own);
    await reportFailure(withCommandsFailure(failure, { io, service }), io, asked);
    return EXIT_CODES[failure.facts.category].code;
  } finally {
    interruption.stop();
  }
}

/** What to do if only the output of a command has failed. */
function adviceAfterRun({ effect, given }: CalledInvocation): string {
  if (effect !== 'pays') {
    return 'The command has done its work, and only its output is missing. See its data with --output json.';
  }
  const change = `--output json instead of --jq${given.includes('fresh') ? ', without --fresh' : ''}`;
  return `What the run has done is kept. To print it, run the same command with ${change}: nothing is sent or paid twice.`;
}

/** The advice of a failure with commands that can be pasted. */
function withCommandsFailure(failure: Failure, caller: Caller): Failure {
  const { advice } = failure.facts;
  if (advice?.includes('vloc ') !== true) return failure;
  const whole = failure.with({ advice: completeCommands(advice, caller) });
  if (failure.stack !== undefined) whole.stack = failure.stack;
  return whole;
}

interface RunEnd {
  readonly signal: AbortSignal;
  readonly fail: (failure: Failure) => void;
  readonly onNextSignal: (listener: () => void) => void;
  /** The failure that ended the run through `fail`. */
  readonly failure: () => Failure | null;
  readonly throwFailure: () => void;
  readonly stop: () => void;
}

/** The first signal asks the command to stop; the next ends the process immediately, unless the command listens for it. A failure reported through `fail` asks it to stop, too. */
function listenForSignals(io: Io): RunEnd {
  const controller = new AbortController();
  let next: (() => void) | null = null;
  const stop = io.onSignal((name) => {
    if (controller.signal.aborted) {
      // Nobody is in a hurry: shell and kernel each send one for the same terminal, and systemd one after its SIGTERM.
      if (name === 'SIGHUP') return;
      const listener = next;
      next = null;
      if (listener !== null) return listener();
      io.abandon(EXIT_CODES[name].code);
    }
    controller.abort(new Interruption(name));
  });
  const { signal } = controller;
  const failure = () => (signal.reason instanceof Failure ? signal.reason : null);
  return {
    signal,
    fail: (reason) => controller.abort(reason),
    onNextSignal(listener) {
      next = listener;
    },
    failure,
    throwFailure() {
      const found = failure();
      if (found !== null) throw found;
    },
    stop,
  };
}

/** Used until the arguments are parsed: a program that asked for JSON gets a wrong flag reported as JSON too. */
function guessGlobal(argv: readonly string[]): FailureFormat {
  const words = [...argv.join(' ').matchAll(/(?:^| )(?:--output|-o)[ =](\S+)/g)].map(([, word]) => word);
  return {
    output: OUTPUT_MODES.find((mode) => FORMS[mode].text === 'json' && words.includes(mode)),
    jq: undefined,
    fields: [],
    color: 'auto',
  };
}
