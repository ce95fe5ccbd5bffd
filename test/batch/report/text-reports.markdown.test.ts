import { describe, expect, it } from 'vitest';
import { readBatchFacts } from '../../../src/batch/report/batch-facts.ts';
import { writeMarkdown } from '../../../src/batch/report/text-reports.ts';
import { recordsOf } from '../records/support/records-of.ts';
import { EVERY_STATE, FOLDER, factsOf, NOW } from './journal-records.ts';

const HEAD = { folders: [FOLDER], madeAt: '2026-11-21T02:00:00.000Z' };
const reportOn = (records: typeof EVERY_STATE) =>
  writeMarkdown(readBatchFacts(recordsOf(records), FOLDER, NOW), HEAD);

describe('a batch as Markdown', () => {
  it('begins with the totals, then what failed and why, then all items', () => {
    const rows = reportOn(EVERY_STATE).split('\n');
    expect(rows[0]).toBe('# out');
    expect(rows[2]).toBe(
      '9 items at 2026-11-21T02:00:00.000Z: 1 done, 1 undelivered, 1 running, 1 unanswered, 1 waiting, 1 refused, 1 failed, 1 cancelled, 1 expired. Cost: 0.3 credits, 2 credits reserved and 3 jobs without a price. The first download link of a result that was not downloaded expires at 2026-11-02T01:00:00.000Z.',
    );
    expect(rows).toContain('Requests without a response: unanswered → es.');
    expect(rows).toContain('| failed → es | ENGINE\\_ERROR | it broke | yes | dub\\_k-failed |  |');
    expect(rows).toContain(
      '| done → es | dubbing | done | dub\\_k-done | 0.1 credits | audio: one.wav (10 B) |',
    );
  });

  it('says that an empty batch has no items', () => {
    expect(reportOn([])).toBe('# out\n\n0 items at 2026-11-21T02:00:00.000Z: no job was requested yet.\n');
  });

  it('does not let a name become markup, a link or a table cell', () => {
    const label =
      'a|b\n# c <img src=x> `d` *e* [f](https://g.example) ![h](x) www.i.example j@k.example \u001b';
    const row = reportOn([factsOf('x', label)])
      .split('\n')
      .at(-2);
    expect(row).toBe(
      '| a\\|b\\\\u000a\\# c \\<img src=x\\> \\`d\\` \\*e\\* \\[f\\](https\\://g.example) \\!\\[h\\](x) www\\.i.example j\\@k.example \\\\u001b | dubbing | waiting |  |  |',
    );
  });

  it('has the notices of the models that made its results', () => {
    const facts = readBatchFacts(recordsOf(EVERY_STATE), FOLDER, NOW);
    const text = writeMarkdown(facts, { ...HEAD, attributions: ['Tiny *models* by nobody.'] });
    expect(text).toContain('\n\n- Tiny \\*models\\* by nobody.\n\n## Items');
  });
});
