import { describe, expect, it } from 'vitest';
import type { BatchRecord } from '../../../src/batch/records/batch-records.ts';
import { shardOf } from '../../../src/batch/records/shard.ts';
import { reportDocument } from '../../../src/batch/report/batch-facts.ts';
import { combineFolders, describeMissing, readFolderFacts } from '../../../src/batch/report/shard-facts.ts';
import { listSuites } from '../../../src/batch/report/test-suites.ts';
import { writeMarkdown } from '../../../src/batch/report/text-reports.ts';
import { writeJunit } from '../../../src/commands/context/output/junit.ts';
import { BEGIN, RECORDS } from '../records/support/attempts.ts';
import { recordsOf } from '../records/support/records-of.ts';
import { commandOf, factsOf, keyOf, NOW } from './journal-records.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const namesOf = (index: number, count: number) => NAMES.filter((name) => shardOf(name, count) === index);

/** A journal whose command ran at that time on a machine, with one job of each of these names. */
function journalOf(names: readonly string[], atMs: number, host: string): readonly BatchRecord[] {
  const jobs = names.flatMap((name) => [
    factsOf(name),
    RECORDS.asked({ key: `k-${name}`, item: keyOf(name) }),
    RECORDS.accepted({ key: `k-${name}` }),
  ]);
  return [{ ...commandOf(names, atMs, ['dub', 'in', '--shard', host]), host }, ...jobs];
}

function folderOf(
  folder: string,
  journals: readonly { index?: number; count?: number; records: readonly BatchRecord[] }[],
) {
  const content = journals.map(({ index = 0, count = 0, records }) => ({
    place: count === 0 ? { folder } : { folder, shard: { index, count } },
    content: recordsOf(records, { folder }),
  }));
  return { folder, journals: content, facts: readFolderFacts(folder, content, NOW) };
}

const shard = (index: number, count: number, host = `runner-${index}`) => ({
  index,
  count,
  records: journalOf(namesOf(index, count), BEGIN + index, host),
});

const HEAD = { folders: ['/one', '/two'], madeAt: '2026-11-21T02:00:00.000Z' };

describe('the shards of a batch', () => {
  it('are one batch, in one folder or in several', () => {
    const together = combineFolders([folderOf('/one', [shard(1, 2), shard(2, 2)])]);
    const apart = combineFolders([folderOf('/one', [shard(1, 2)]), folderOf('/two', [shard(2, 2)])]);
    for (const { items, counts, shards, missing_shards } of [together, apart]) {
      expect(items.map(({ label }) => label).sort()).toEqual(NAMES.map((name) => `${name} → es`));
      expect([counts.running, missing_shards]).toEqual([6, []]);
      expect(shards.map((each) => [each.shard, each.host, each.items, each.open])).toEqual([
        ['1/2', 'runner-1', namesOf(1, 2).length, namesOf(1, 2).length],
        ['2/2', 'runner-2', namesOf(2, 2).length, namesOf(2, 2).length],
      ]);
    }
    expect(new Set(together.items.map(({ folder }) => folder))).toEqual(new Set([undefined]));
    expect(new Set(apart.items.map(({ folder }) => folder))).toEqual(new Set(['/one', '/two']));
    expect(together.items.find(({ label }) => label === 'a → es')?.shard).toBe(`${shardOf('a', 2)}/2`);
  });

  it('are named if they have not run', () => {
    const facts = combineFolders([folderOf('/one', [shard(2, 3)])]);
    expect(facts.missing_shards).toEqual(['1/3', '3/3']);
    expect(describeMissing(facts)).toBe('Shards 1/3, 3/3 have not run here.');
    expect(writeMarkdown(facts, HEAD)).toContain('\n\nShards 1/3, 3/3 have not run here.\n\n## Shards\n\n');
    expect(writeJunit(listSuites(facts, HEAD))).toContain(
      '<testsuite name="shards" tests="2" failures="0" errors="0" skipped="2"',
    );
    expect(reportDocument(facts, HEAD)).toMatchObject({ missing_shards: ['1/3', '3/3'] });
    const all = combineFolders([folderOf('/one', [shard(1, 3), shard(2, 3), shard(3, 3)])]);
    expect([describeMissing(all), writeJunit(listSuites(all, HEAD)).includes('"shards"')]).toEqual([
      null,
      false,
    ]);
  });

  it('are those of the newest division; an item of two journals counts once', () => {
    const whole = { records: journalOf(NAMES, BEGIN + 100, 'shelf') };
    const before = folderOf('/one', [shard(1, 2), shard(2, 2), whole]);
    const facts = combineFolders([before]);
    expect([facts.items.length, facts.shards, facts.missing_shards]).toEqual([6, [], []]);
    expect(facts.items.some((item) => 'shard' in item)).toBe(false);
    const again = combineFolders([
      folderOf('/one', [{ records: journalOf(NAMES, BEGIN - 100, 'shelf') }, shard(1, 2)]),
    ]);
    expect([again.items.length, again.missing_shards]).toEqual([6, ['2/2']]);
  });

  it('each have a section in the reports, with files relative to their folder', () => {
    const done = [...shard(1, 2).records, RECORDS.finished({ key: `k-${namesOf(1, 2)[0]}` })];
    const file = { path: '/one/one.wav', sha256: 'a'.repeat(64), size: 10, asset: 'audio' };
    const records = [...done, { ...RECORDS.downloaded({ key: `k-${namesOf(1, 2)[0]}` }), files: [file] }];
    const facts = combineFolders([
      folderOf('/one', [{ ...shard(1, 2), records }]),
      folderOf('/two', [shard(2, 2)]),
    ]);
    const markdown = writeMarkdown(facts, HEAD);
    expect(markdown).toContain('# one, two\n');
    expect(markdown).toContain(
      `| 1/2 | runner-1 | ${namesOf(1, 2).length} | 1 | 0 | ${namesOf(1, 2).length - 1} | /one |`,
    );
    expect(markdown).toContain('| audio: one.wav (10 B) |');
    const xml = writeJunit(listSuites(facts, HEAD));
    expect(xml.match(/<testsuite name="[^"]+" tests="\d"/g)).toEqual([
      `<testsuite name="one" tests="${namesOf(1, 2).length}"`,
      `<testsuite name="two" tests="${namesOf(2, 2).length}"`,
    ]);
    expect(xml).toContain('<system-out>one.wav</system-out>');
    expect(reportDocument(facts, HEAD)).toMatchObject({
      folders: ['/one', '/two'],
      commands: [{ host: 'runner-1' }, { host: 'runner-2' }],
    });
  });
});
