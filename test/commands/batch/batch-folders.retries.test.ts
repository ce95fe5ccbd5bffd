import { describe, expect, it } from 'vitest';
import type { BatchRecord } from '../../../src/batch/records/batch-records.ts';
import { readBatchFacts } from '../../../src/batch/report/batch-facts.ts';
import { selectRetries } from '../../../src/commands/batch/batch-folders.ts';
import { BEGIN, RECORDS } from '../../batch/records/support/attempts.ts';
import { recordsOf } from '../../batch/records/support/records-of.ts';
import { commandOf, EVERY_STATE, FOLDER, keyOf, NOW } from '../../batch/report/journal-records.ts';

const select = (records: readonly BatchRecord[], all: boolean) =>
  selectRetries(readBatchFacts(recordsOf(records), FOLDER, NOW), all);
const labels = (items: readonly { label: string }[]) => items.map(({ label }) => label.replace(' → es', ''));

describe('a retry', () => {
  it('selects temporary failures, items refused for lack of credits, and items whose request was sent', () => {
    const { runs, hopeless } = select(EVERY_STATE, false);
    expect(runs.map(({ items }) => labels(items))).toEqual([
      ['undelivered', 'running', 'unanswered', 'refused', 'failed'],
    ]);
    expect(labels(hopeless)).toEqual(['cancelled', 'expired']);
  });

  it('selects with --all everything that failed, and never items that are done or were not sent', () => {
    const { runs, hopeless } = select(EVERY_STATE, true);
    expect(runs.map(({ items }) => labels(items))).toEqual([
      ['undelivered', 'running', 'unanswered', 'refused', 'failed', 'cancelled', 'expired'],
    ]);
    expect(hopeless).toEqual([]);
  });

  it('leaves permanent failures to --all', () => {
    const failed = {
      ...RECORDS.finished({ key: 'k-bad', state: 'failed' }),
      ...{ error: 'MEDIA_CORRUPT', message: 'it does not decode', retryable: false },
    };
    const records = [commandOf(['bad']), RECORDS.asked({ key: 'k-bad', item: keyOf('bad') }), failed];
    expect(select(records, false).runs).toEqual([]);
    expect(select(records, true).runs).toHaveLength(1);
  });

  it('uses the newest command of each item', () => {
    const newer = commandOf(['failed'], BEGIN + 1000, ['dub', 'subs', '--voice-mode', 'male']);
    const { runs } = select([...EVERY_STATE, newer], false);
    expect(runs.map(({ command, items }) => [command.argv.at(-1), labels(items)])).toEqual([
      ['es', ['undelivered', 'running', 'unanswered', 'refused']],
      ['male', ['failed']],
    ]);
  });

  it('cannot select an item without a known command', () => {
    const { runs, orphans } = select(EVERY_STATE.slice(1), false);
    expect(runs).toEqual([]);
    expect(labels(orphans)).toEqual(['undelivered', 'running', 'unanswered', 'refused', 'failed']);
  });
});
