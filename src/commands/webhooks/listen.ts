import * as v from 'valibot';
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
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { JOB_STATUSES } from '../../protocol/states.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import { type Context, Interruption, type TableHead } from '../context/context.ts';
import { formatDuration } from '../context/format.ts';
import { startListening } from '../context/listen.ts';
import { JSON_ONLY, type Presentation } from '../context/output/presentation.ts';
import { lineOf, NullableNumber, NullableText } from '../context/output-schemas.ts';
import { type Caller, writeCommand } from '../context/printed-command.ts';
import {
  checkSuccess,
  createEventCommands,
  createReceiver,
  idOfReference,
  isEndOf,
  type Listener,
  type ReceivedEvent,
  startListener,
  type WebhookReport,
} from './receive.ts';
import { RULE_OPTIONS, readRules, WEBHOOK_CHECKS } from './rules.ts';

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

const EVENT = {
  id: v.string(),
  event_type: NullableText,
  created_at: NullableText,
  job: v.object({
    id: NullableText,
    kind: v.nullable(v.picklist(JOB_KIND_NAMES)),
    status: v.nullable(v.picklist(JOB_STATUSES)),
    client_reference: NullableText,
    detail_url: NullableText,
  }),
  form: v.string(),
  forwarded_status: NullableNumber,
};
const COUNTS = {
  events: v.number(),
  duplicates: v.number(),
  refused: v.number(),
  not_forwarded: v.number(),
  failed_commands: v.number(),
};

const WEBHOOK_EVENTS = {
  json: [v.object({ url: v.string(), ...COUNTS, received: v.array(v.object(EVENT)) })],
  ndjson: [
    lineOf('listening', { url: v.string() }),
    lineOf('event', EVENT),
    lineOf('duplicate', { id: v.string() }),
    lineOf('refused', { check: v.picklist(WEBHOOK_CHECKS), message: v.string() }),
    lineOf('not_forwarded', { id: v.string(), status: NullableNumber, message: v.string() }),
    lineOf('command_failed', { id: v.string(), message: v.string() }),
    lineOf('summary', COUNTS),
  ],
};

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
  prints: WEBHOOK_EVENTS,
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
      listener = await startListening(() => startListener({ host, port, path, receive, onRefused }));
      show.listening(listener.url);
      if (options.until !== undefined) context.terminal.note(describeWait(options.until, listener.url));
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

/** A job that was sent without its callback, or whose service has another secret, would be waited for in vain. */
function describeWait(job: string, url: string): string {
  const { hostname, port } = new URL(url);
  return `Waiting for ${job}: its --callback-url must lead to ${hostname} port ${port}, and the webhook secret must be that of its key.`;
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

/** Creates the output of one run. */
export function createEventOutput(context: Context) {
  const { terminal, present } = context;
  const events: object[] = [];
  const counts = { events: 0, duplicates: 0, refused: 0, not_forwarded: 0, failed_commands: 0 };
  let listeningOn = '';
  let written = Promise.resolve();
  const showEvent = (event: ReceivedEvent) => {
    events.push(eventDocument(event));
    const shown = presentEvent(event, context.io.now(), counts.events === 1);
    // In sequence, so that lines keep their order while the table code is loaded.
    written = written.then(() => present.show(shown));
  };
  return {
    /** Commands that failed so far. */
    get failedCommands() {
      return counts.failed_commands;
    },
    listening(url: string) {
      listeningOn = url;
      present.event({ type: 'listening', url });
      terminal.note(`Listening on ${url}; Ctrl-C ends it.`);
    },
    report(report: WebhookReport) {
      switch (report.type) {
        case 'event':
          counts.events += 1;
          showEvent(report.event);
          return;
        case 'duplicate':
          counts.duplicates += 1;
          terminal.note(`${report.id}: a duplicate; nothing was done again.`);
          break;
        case 'refused':
          counts.refused += 1;
          terminal.warn(`Refused (${report.check}): ${report.message}.`);
          break;
        case 'not_forwarded':
          counts.not_forwarded += 1;
          terminal.warn(`${report.id} was not forwarded: ${report.message}. The service sends it again.`);
      }
      present.event(report);
    },
    commandFailed(event: ReceivedEvent, reason: string) {
      counts.failed_commands += 1;
      terminal.warn(`The command for ${event.id} failed: ${reason}.`);
      present.event({ type: 'command_failed', id: event.id, message: reason });
    },
    /** Prints the summary after all other lines. */
    async end() {
      await written;
      await present.show({
        ...JSON_ONLY,
        document: () => ({ url: listeningOn, ...counts, received: events }),
        events: () => [{ type: 'summary', ...counts }],
      });
      terminal.note(
        `Events: ${counts.events}, duplicates: ${counts.duplicates}, refused: ${counts.refused}, not forwarded: ${counts.not_forwarded}.`,
      );
    },
  };
}

type EventOutput = ReturnType<typeof createEventOutput>;

function eventDocument({ id, type, created_at, job, layout, forwardedStatus }: ReceivedEvent): object {
  return { id, event_type: type, created_at, job, form: layout, forwarded_status: forwardedStatus };
}

/** Widths of the longest `kind.status` and of job ids, so that the columns of all lines are aligned. */
const TYPE_CELLS = 'subtitle_translation.succeeded'.length;
const ID_CELLS = 30;
const HEAD: readonly TableHead[] = [
  'TIME',
  { title: 'TYPE', cells: TYPE_CELLS },
  { title: 'JOB', cells: ID_CELLS },
  { title: 'REFERENCE', drops: 2 },
  { title: 'FORWARDED', drops: 1 },
];

/** An event as it is printed at once; the document at the end has all of them. */
function presentEvent(event: ReceivedEvent, nowMs: number, isFirst: boolean): Presentation {
  const { id, job, type, forwardedStatus } = event;
  const cells = () => [
    `${new Date(nowMs).toISOString().slice(11, 19)}Z`,
    type ?? 'unknown',
    job.id ?? id,
    job.client_reference ?? '-',
    forwardedStatus === null ? '-' : String(forwardedStatus),
  ];
  return {
    events: () => [{ type: 'event', ...eventDocument(event) }],
    rows: () => [[`${type ?? 'unknown'} ${job.id ?? id}`]],
    ids: () => [job.id ?? id],
    pages: () => [{ head: HEAD, rows: [cells()], isNext: !isFirst }],
  };
}
