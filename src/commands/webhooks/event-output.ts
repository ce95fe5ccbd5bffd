/** Prints webhooks: new events to stdout; rejected, repeated and not forwarded ones to stderr. */
import type { Context } from '../context/context.ts';
import type { ReceivedEvent, WebhookReport } from './receiver.ts';

export interface EventOutput {
  listening(url: string): void;
  report(report: WebhookReport): void;
  commandFailed(event: ReceivedEvent, reason: string): void;
  /** Prints the summary after all other lines. */
  end(): Promise<void>;
  /** Commands that failed so far. */
  readonly failedCommands: number;
}

/** Creates the output of one run in the chosen form. */
export function createEventOutput(context: Context): EventOutput {
  const { terminal, output, print } = context;
  const events: object[] = [];
  const counts = { events: 0, duplicates: 0, refused: 0, not_forwarded: 0, failed_commands: 0 };
  let listeningOn = '';
  let written = Promise.resolve();
  const tell = (document: object) => {
    if (output === 'ndjson') print(JSON.stringify(document));
  };
  const showEvent = (event: ReceivedEvent) => {
    const { id, type, job } = event;
    const isFirst = counts.events === 1;
    switch (output) {
      case 'json':
        events.push(eventDocument(event));
        break;
      case 'ndjson':
        print(JSON.stringify({ type: 'event', ...eventDocument(event) }));
        break;
      case 'plain':
        print(`${type ?? 'unknown'} ${job.id ?? id}`);
        break;
      case 'id':
        print(job.id ?? id);
        break;
      case 'table':
        // In sequence, so that lines keep their order while the table code is loaded.
        written = written.then(async () => print(await tableLine(context, event, isFirst)));
    }
  };
  return {
    get failedCommands() {
      return counts.failed_commands;
    },
    listening(url) {
      listeningOn = url;
      tell({ type: 'listening', url });
      terminal.note(`Listening on ${url}; Ctrl-C ends it.`);
    },
    report(report) {
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
      tell(report);
    },
    commandFailed(event, reason) {
      counts.failed_commands += 1;
      terminal.warn(`The command for ${event.id} failed: ${reason}.`);
      tell({ type: 'command_failed', id: event.id, message: reason });
    },
    async end() {
      await written;
      tell({ type: 'summary', ...counts });
      if (output === 'json')
        print(JSON.stringify({ url: listeningOn, ...counts, received: events }, null, 2));
      terminal.note(
        `Events: ${counts.events}, duplicates: ${counts.duplicates}, refused: ${counts.refused}, not forwarded: ${counts.not_forwarded}.`,
      );
    },
  };
}

function eventDocument({ id, type, created_at, job, layout, forwardedStatus }: ReceivedEvent): object {
  return { id, event_type: type, created_at, job, form: layout, forwarded_status: forwardedStatus };
}

/** Widths of the longest `kind.status` and of job ids, so that the columns of all lines are aligned. */
const TYPE_CELLS = 'subtitle_translation.succeeded'.length;
const ID_CELLS = 30;
const HEAD = ['TIME     ', 'TYPE'.padEnd(TYPE_CELLS), 'JOB'.padEnd(ID_CELLS), 'REFERENCE', 'FORWARDED'];

/** One line, the first with a header. The table escapes the event, which is external data. */
async function tableLine({ io, terminal }: Context, event: ReceivedEvent, isFirst: boolean): Promise<string> {
  const { id, job, type, forwardedStatus } = event;
  const cells = [
    `${new Date(io.now()).toISOString().slice(11, 19)}Z`,
    (type ?? 'unknown').padEnd(TYPE_CELLS),
    (job.id ?? id).padEnd(ID_CELLS),
    (job.client_reference ?? '-').padEnd('REFERENCE'.length),
    forwardedStatus === null ? '-' : String(forwardedStatus),
  ];
  const laidOut = await terminal.table(HEAD, [cells]);
  return isFirst ? laidOut : (laidOut.split('\n').at(-1) ?? '');
}
