import { describe, expect, it } from 'vitest';
import type { BatchItem } from '../../../src/batch/item.ts';
import { createTerminal } from '../../../src/cli/terminal/terminal.ts';
import type { Context } from '../../../src/commands/context/context.ts';
import { type OutputMode, outputTo } from '../../../src/commands/context/output/forms.ts';
import { createBatchView } from '../../../src/commands/screen/view.ts';
import { createTestIo } from '../../support/test-io.ts';
import { done, doneBefore, failed, item, itemEvent, processing, START_MS } from '../batch/items.ts';

const many = Array.from({ length: 4 }, (_, at) => item(`talk-${at}.mp4`));

async function open(items: readonly BatchItem[], output: OutputMode = 'table', isTty = false) {
  const { io, stderr } = createTestIo({ now: () => START_MS });
  if (isTty) Object.assign(io.stdout, { isTTY: true });
  const printed: string[] = [];
  const counted: (number | null)[] = [];
  const global = {
    output,
    jq: undefined,
    fields: [],
    quiet: false,
    verbose: false,
    color: 'never',
    profile: undefined,
    baseUrl: undefined,
    engines: undefined,
  } as const;
  const terminal = await createTerminal(io, global, new AbortController().signal);
  const context: Context = {
    ...outputTo(output, (line) => printed.push(line), terminal),
    onNextSignal: () => undefined,
    fail: (failure) => expect.unreachable(failure.message),
    io,
    fields: null,
    signal: new AbortController().signal,
    terminal,
    printed: async () => {},
    addDefaults: async (_table, given) => given,
    commandLine: [],
    service: {},
    spending: { left: () => 0, count: (credits) => void counted.push(credits) },
  };
  const view = await createBatchView(context, { items });
  return { view, printed, counted, rows: () => stderr().split('\n').slice(0, -1) };
}

const [first = item('first'), second = item('second'), third = item('third')] = many;

describe('a batch of many items without a terminal', () => {
  it('has a line for each change, none for earlier results, and totals at the end', async () => {
    const { view, rows } = await open(many);
    view.listener(itemEvent(first, doneBefore));
    view.listener(itemEvent(second, processing('loc_2', 0.1)));
    view.listener(itemEvent(second, processing('loc_2', 0.2)));
    view.listener(itemEvent(second, done('loc_2')));
    view.listener(itemEvent(third, failed('loc_3')));
    view.close();
    view.close();
    expect(rows()).toEqual([
      '0 of 4 done, 4 waiting',
      'talk-2.mp4 → es: no speech was found',
      '2 of 4 done, 1 waiting, 1 failed',
    ]);
  });

  it('says why it stops, and does not hide that below a list of the rest', async () => {
    const { view, rows } = await open(many);
    view.listener({ type: 'stop', reason: 'quota', message: 'the monthly quota is used up' });
    for (const each of many) {
      view.listener(itemEvent(each, { phase: 'left', jobId: null, because: 'quota' }));
    }
    view.close();
    expect(rows()).toEqual([
      '0 of 4 done, 4 waiting',
      '! the monthly quota is used up',
      '0 of 4 done, 4 left for the next run · the monthly quota is used up',
    ]);
  });
});

describe('a batch of few items', () => {
  it('shows how each begins and ends, as a single job does', async () => {
    const { view, rows } = await open([first]);
    view.listener(itemEvent(first, { phase: 'waiting' }));
    view.listener(itemEvent(first, { phase: 'uploading', bytes: 5, total: 10 }, 10));
    view.listener(itemEvent(first, { phase: 'submitting' }));
    view.listener(itemEvent(first, { phase: 'queued', jobId: 'loc_1' }));
    view.listener(itemEvent(first, processing('loc_1', 0.5)));
    view.listener(itemEvent(first, done('loc_1')));
    view.close();
    expect(rows().map((row) => row.replace(/, .*/, ''))).toEqual([
      'talk-0.mp4 → es: uploading 50 %',
      'talk-0.mp4 → es: talk.es.mp4',
    ]);
  });

  it('names the job that continues without waiting', async () => {
    const { view, rows } = await open([first, second, third]);
    view.listener(itemEvent(first, { phase: 'left', jobId: 'loc_1', because: 'detached' }));
    view.listener(itemEvent(second, { phase: 'left', jobId: 'loc_2', because: 'interrupted' }));
    view.listener(itemEvent(third, { phase: 'left', jobId: null, because: 'interrupted' }));
    expect(rows()).toEqual([
      'talk-0.mp4 → es: loc_1 accepted',
      'talk-1.mp4 → es: loc_2 continues',
      'talk-2.mp4 → es: not started',
    ]);
  });
});

describe('--output ndjson', () => {
  it('has one object a line and ends with the summary', async () => {
    const { view, printed } = await open(many, 'ndjson');
    view.listener({ type: 'uploaded', item: first, uploadId: 'upl_1', bytes: 10 });
    view.listener({ type: 'window', size: 15, inFlight: 1 });
    view.listener({ type: 'credits', reserved: 2, charged: 0, unknown: 0, units: [], isFree: true });
    view.listener(itemEvent(first, failed(null)));
    view.listener({ type: 'stop', reason: 'quota', message: 'used up' });
    view.summarize([{ item: first, state: { phase: 'left', jobId: null, because: 'quota' } }], 6);
    view.close();
    const lines = printed.map((line) => JSON.parse(line));
    expect(lines.shift()).toEqual({ type: 'uploaded', input: 'talk-0.mp4', upload_id: 'upl_1', bytes: 10 });
    expect(lines.map(({ type }) => type)).toEqual(['window', 'credits', 'item', 'failed', 'stop', 'summary']);
    expect(lines[0]).toEqual({ type: 'window', size: 15, in_flight: 1 });
    expect(lines[5]).toMatchObject({ jobs: 1, left: 1, reserved_credits: 2, exit_code: 6 });
  });

  it('draws nothing if the events are written to the terminal themselves', async () => {
    const { view, rows } = await open(many, 'ndjson', true);
    view.listener(itemEvent(first, processing('loc_1', 0.1)));
    view.close();
    expect(rows()).toEqual([]);
  });

  it('is silent in the other forms', async () => {
    const { view, printed } = await open(many, 'json');
    view.listener(itemEvent(first, failed(null)));
    view.summarize([], 0);
    expect(printed).toEqual([]);
  });
});

it('counts the credits of a run for those who share its limit, but none of the embedded service', async () => {
  const { view, counted } = await open(many);
  const credits = { type: 'credits', reserved: 2, charged: 1, unknown: 0, units: [] } as const;
  view.listener({ ...credits, ofThisRun: 3, isFree: true });
  view.listener({ ...credits, ofThisRun: 2 });
  view.close();
  expect(counted).toEqual([2]);
});
