import { describe, expect, it } from 'vitest';
import { readBatchFacts } from '../../../src/batch/report/batch-facts.ts';
import { selectRetries } from '../../../src/batch/report/select-retries.ts';
import type { LogRecord } from '../../../src/journal/record-line.ts';
import { BEGIN, RECORDS } from '../../journal/support/intents.ts';
import { commandOf, EVERY_STATE, FOLDER, keyOf, NOW } from './journal-records.ts';

const select = (records: readonly LogRecord[], all: boolean) =>
  selectRetries(readBatchFacts({ records, damage: [], torn: 0 }, FOLDER, NOW), all);
const labels = (items: readonly { label: string }[]) => items.map(({ label }) => label.replace(' → es', ''));

describe('what is run again', () => {
  it('is what failed for reasons that may pass, what was refused for want of credits, and results not fetched', () => {
    const { runs, hopeless } = select(EVERY_STATE, false);
    expect(runs.map(({ items }) => labels(items))).toEqual([['undelivered', 'refused', 'failed']]);
    expect(labels(hopeless)).toEqual(['cancelled', 'expired']);
  });

  it('is with --all everything that came to nothing, and never what is done or goes on', () => {
    const { runs, hopeless } = select(EVERY_STATE, true);
    expect(runs.map(({ items }) => labels(items))).toEqual([
      ['undelivered', 'refused', 'failed', 'cancelled', 'expired'],
    ]);
    expect(hopeless).toEqual([]);
  });

  it('leaves what failed for good to --all', () => {
    const failed = {
      ...RECORDS.finished({ key: 'k-bad', state: 'failed' }),
      error: { code: 'MEDIA_CORRUPT', message: 'it does not decode', retryable: false },
    };
    const records = [commandOf(['bad']), RECORDS.intend({ key: 'k-bad', item: keyOf('bad') }), failed];
    expect(select(records, false).runs).toEqual([]);
    expect(select(records, true).runs).toHaveLength(1);
  });

  it('runs with the command that asked for it last', () => {
    const newer = commandOf(['failed'], BEGIN + 1000, ['dub', 'subs', '--voice-mode', 'male']);
    const { runs } = select([...EVERY_STATE, newer], false);
    expect(runs.map(({ command, items }) => [command.argv.at(-1), labels(items)])).toEqual([
      ['es', ['undelivered', 'refused']],
      ['male', ['failed']],
    ]);
  });

  it('cannot be what no command is known of', () => {
    const { runs, orphans } = select(EVERY_STATE.slice(1), false);
    expect(runs).toEqual([]);
    expect(labels(orphans)).toEqual(['undelivered', 'refused', 'failed']);
  });
});
