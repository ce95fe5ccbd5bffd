import { type Failure, partialFailure, timeoutFailure } from '../../base/failure.ts';
import {
  durationOption,
  numberOption,
  type OptionTable,
  type OptionValues,
  PORT_RANGE,
  textOption,
} from '../../base/option.ts';
import { SYSTEM_RUNTIME } from '../../client/runtime.ts';
import { createForwarder, parseForwardTarget } from '../../client/webhooks/forward.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import { type Context, Interruption } from '../context/context.ts';
import { formatDuration } from '../context/format.ts';
import { listen } from '../context/listen.ts';
import { type Caller, writeCommand } from '../context/printed-command.ts';
import { createEventCommands } from './event-commands.ts';
import { createEventOutput, type EventOutput } from './event-output.ts';
import { type Listener, startListener } from './listener.ts';
import {
  checkSuccess,
  createReceiver,
  idOfReference,
  isEndOf,
  type ReceivedEvent,
  type WebhookReport,
} from './receiver.ts';
import { RULE_OPTIONS, readRules } from './rules.ts';

const OPTIONS = {
  host: textOption('address', 'address to listen on (default: 127.0.0.1)'),
  port: numberOption('port', 'port to listen on (default: any free port)', PORT_RANGE),
  path: textOption('/path', 'path to accept deliveries at (default: /)'),
  forwardTo: textOption(
    'url',
    'forward genuine events unchanged to this address, such as http://localhost:3000/hook',
  ),
  exec: textOption(
    'command',
    'run a shell command for each event, with its JSON on stdin and its fields in VLOC_EVENT_*',
  ),
  until: textOption('job', 'exit when this job has finished: with 0 if it succeeded, else 5'),
  timeout: durationOption('stop listening after this time, such as 90s, 30m or 2h'),
  ...RULE_OPTIONS,
} as const satisfies OptionTable;

type Options = OptionValues<typeof OPTIONS>;

export const webhooksListen: Command = defineCommand({
  options: OPTIONS,
  examples: [
    {
      command: 'vloc webhooks listen --port 4242 --forward-to localhost:3000/hook',
      explains: 'verify deliveries and forward them to a receiver under development',
    },
    {
      command: `vloc webhooks listen --port 4242 --exec 'notify-send "$VLOC_EVENT_TYPE" "$VLOC_EVENT_JOB_ID"'`,
      explains: 'run a command for each event',
    },
    {
      command: 'vloc webhooks listen --port 4242 --until loc_01k9x2m4n6p8q0r2s4t6v8w0y2 --timeout 2h',
      explains: 'wait for one job without polling',
    },
  ],
  notes: [
    'A hosted service sends to public https addresses only: put a tunnel or a reverse proxy in front of the port, and give its address as --callback-url of a job. An embedded service sends to this machine if it was started with `vloc serve --allow-loopback`; `vloc serve keys create --output json` shows the webhook_secret of a new key.',
    'The secret comes from VLOC_WEBHOOK_SECRET, the profile or --secret-stdin, never from an argument. Commands of --exec do not get it, nor VLOC_SECRET.',
    'Responses: 200 for events and duplicates, 400 or 401 for deliveries that are not genuine, 502 if --forward-to failed, so that the service sends the event again. --exec runs after the response; its output goes to stderr.',
    'Ctrl-C exits with 0, or with 130 while --until waits. Webhooks may be lost: use --timeout with --until, and check with `vloc jobs get`. With --output json the document is printed at the end; ndjson prints each line immediately.',
  ],
  schemas: async () => (await import('../doctor/outputs.ts')).WEBHOOK_EVENTS,
  run: async (context, _operands, options) => {
    const port = options.port ?? 0;
    const path = checkPath(options.path ?? '/');
    const target = options.forwardTo === undefined ? null : parseForwardTarget(options.forwardTo);
    const rules = await readRules(context, options);
    const forwarder = target === null ? null : createForwarder(target);
    const show = createEventOutput(context);
    const ended = Promise.withResolvers<ReceivedEvent>();
    const commands = options.exec === undefined ? null : createCommands(context, options.exec, show);
    const report = (reported: WebhookReport) => {
      show.report(reported);
      if (reported.type !== 'event') return;
      commands?.run(reported.event);
      if (options.until !== undefined && isEndOf(reported.event, idOfReference(options.until))) {
        ended.resolve(reported.event);
      }
    };
    let listener: Listener | null = null;
    try {
      const receive = createReceiver({ rules, now: context.io.now, forwarder, report });
      const onRefused = (reason: string) => context.terminal.warn(`Refused: ${reason}.`);
      const host = options.host ?? '127.0.0.1';
      listener = await listen(() => startListener({ host, port, path, receive, onRefused }));
      show.listening(listener.url);
      const last = await waitForEnd(context, ended.promise, options);
      // Lets the answer to the last event, and its command, finish.
      await listener.close();
      await commands?.idle();
      if (last !== null) checkSuccess(last, context);
    } finally {
      await listener?.close();
      await commands?.idle();
      await forwarder?.close();
      await show.end();
    }
    checkCommands(show);
    return 0;
  },
});

function createCommands({ io, signal }: Context, command: string, show: EventOutput) {
  const { env, cwd, stderr: output } = io;
  return createEventCommands({ command, env, cwd, output, signal, onFailed: show.commandFailed });
}

/** Resolves with the event that `--until` waits for; with null when listening ends normally without it. */
async function waitForEnd(
  context: Context,
  ended: Promise<ReceivedEvent>,
  { until, timeout }: Options,
): Promise<ReceivedEvent | null> {
  const { signal } = context;
  const timer = new AbortController();
  // Without --timeout: longer than any run.
  const sleep = SYSTEM_RUNTIME.sleep(
    timeout ?? Number.MAX_SAFE_INTEGER,
    AbortSignal.any([signal, timer.signal]),
  );
  const time = sleep.then(
    () => 'time' as const,
    () => 'stopped' as const,
  );
  try {
    const outcome = await Promise.race([ended, time]);
    if (typeof outcome === 'object') return outcome;
    if (outcome === 'time' && until !== undefined) throw stillWaitingFailure(until, timeout ?? 0, context);
    if (outcome === 'time') return null;
    // Without --until, Ctrl-C is the normal end, as with `vloc serve`.
    if (until === undefined && signal.reason instanceof Interruption) return null;
    throw signal.reason;
  } finally {
    timer.abort();
  }
}

function stillWaitingFailure(job: string, timeoutMs: number, caller: Caller): Failure {
  return timeoutFailure(
    'NO_EVENT',
    `no completion event for ${job} within ${formatDuration(timeoutMs)}`,
    // The event may have been sent earlier or be lost; the service was not asked.
    `Check the job: \`${writeCommand(caller, ['jobs', 'get', job])}\``,
    { jobId: idOfReference(job), retryable: true },
  );
}

function checkCommands({ failedCommands }: EventOutput): void {
  if (failedCommands === 0) return;
  throw partialFailure(
    'COMMAND_FAILED',
    `the command of --exec failed for ${failedCommands} ${failedCommands === 1 ? 'event' : 'events'}`,
    'The events were acknowledged and do not come again: `vloc jobs get` shows the jobs.',
  );
}

function checkPath(path: string): string {
  if (/^\/[^\s?#]*$/.test(path)) return path;
  throw listenAddressFailure('--path does not begin with a slash, or contains a space, a ? or a #');
}

function listenAddressFailure(message: string): Failure {
  return invalidCallFailure(message, 'See `vloc webhooks listen --help`.');
}
