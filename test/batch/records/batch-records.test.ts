import { describe, expect, it } from 'vitest';
import { type BatchRecord, combineRecords, viewContent } from '../../../src/batch/records/batch-records.ts';
import { commandOf, FOLDER, factsOf, keyOf } from '../report/journal-records.ts';
import { BEGIN, RECORDS } from './support/attempts.ts';
import { recordsOf } from './support/records-of.ts';

const AT = new Date(BEGIN).toISOString();
const ITEM = keyOf('a');
const PROVENANCE = { engines: [], cues: [] };
const UNUSABLE = {
  type: 'unusable_input',
  at: AT,
  item: ITEM,
  label: 'a → es',
  detail: 'It is empty.',
} as const;
const PREPARED = {
  type: 'prepared',
  source: 'f'.repeat(64),
  recipe: 'split',
  files: [{ name: '1.mp4', bytes: 4, sha256: 'c'.repeat(64), seconds: 2 }],
  split: { parts: 1 },
} as const;
const FIRST = { path: `${FOLDER}/a.es.mp4`, sha256: 'e'.repeat(64), size: 7 } as const;
const OWNED = { item: ITEM, step: 'result', made: 'd'.repeat(64) } as const;
const OUTPUTS = { ...OWNED, type: 'outputs', files: [FIRST] } as const;
const DAMAGED = { type: 'log_damaged', places: ['a row of attempts'], kept: 'records.damaged.db' } as const;
const LOST = { id: 'dub_1', status: 'succeeded', created_at: AT, client_reference: null } as const;
const COMPARED = { type: 'jobs_compared', kind: 'dubbing', jobs: [LOST], gone: ['dub_2'] } as const;

const SUBTITLE = { ...OWNED, type: 'outputs', step: 'target', language: 'es', files: [FIRST] } as const;
const SOURCES = { made_of: 'x', source: null, target: null, target_lines: null } as const;
const WRITTEN = { path: 'a.es.srt', at: AT, sha256: 'a'.repeat(64), size: 7 } as const;
const VIDEO = { ...WRITTEN, ...SOURCES, type: 'stage_export', item: ITEM } as const;

const intended = [factsOf('a'), RECORDS.asked({ key: 'k', item: ITEM })] as const;
const downloaded = {
  ...RECORDS.downloaded({ key: 'k' }),
  files: [{ path: `${FOLDER}/a.wav`, sha256: 'b'.repeat(64), size: 10 }],
};

/** The view as plain values: maps and sets compare by their content. */
const view = (...records: readonly BatchRecord[]) => recordsOf(records);

describe('the records of a batch', () => {
  it('are empty without a record, and not with one of any kind', () => {
    expect(view()).toMatchObject({ isEmpty: true, name: null, commands: [], damages: [], lostJobs: [] });
    expect(viewContent({ rows: new Map(), damage: [] }, FOLDER).attempts.byKey.size).toBe(0);
    for (const record of [factsOf('a'), intended[1], commandOf(['a']), DAMAGED]) {
      expect(view(record).isEmpty, record.type).toBe(false);
    }
    expect(view({ type: 'batch_name', batch: 'b1', is_certain: true }).isEmpty).toBe(false);
  });

  it('keep the name of the batch, and whether it is certain', () => {
    expect(view({ type: 'batch_name', batch: 'b1', is_certain: false }).name).toEqual({
      batch: 'b1',
      is_certain: false,
    });
    expect(view({ type: 'batch_name', batch: 'b1', is_certain: true }).name).toEqual({
      batch: 'b1',
      is_certain: true,
    });
  });

  it('have the facts of each item, and move with the folder', () => {
    const below = { ...factsOf('a'), path: `${FOLDER}/in/a` };
    const { facts } = recordsOf([below, factsOf('b')], { folder: FOLDER, readIn: '/elsewhere' });
    expect(facts).toEqual(
      new Map([
        [keyOf('a'), { ...below, path: '/elsewhere/in/a' }],
        [keyOf('b'), factsOf('b')],
      ]),
    );
  });

  it('bring an attempt through its states, with when each began and files in the folder', () => {
    const { byKey, byItem } = recordsOf(
      [...intended, RECORDS.accepted({ key: 'k', at: BEGIN + 1 }), { ...downloaded, at: AT }],
      { folder: FOLDER, readIn: '/elsewhere' },
    ).attempts;
    expect(byItem).toEqual(new Map([[ITEM, ['k']]]));
    expect(byKey.get('k')).toMatchObject({
      item: ITEM,
      request: { target_language: 'es' },
      state: 'downloaded',
      files: [{ path: '/elsewhere/a.wav', size: 10 }],
      asked_at: AT,
      accepted_at: new Date(BEGIN + 1).toISOString(),
      downloaded_at: AT,
    });
    expect(view(...intended).attempts.byKey.get('k')).toMatchObject({ state: 'asked', files: [] });
  });

  it('keep how a result was made, with the files of lost terms in the folder', () => {
    const made = { type: 'made', key: 'k', provenance: PROVENANCE } as const;
    const others = [RECORDS.asked({ key: 'other' }), ...intended] as const;
    expect(view(...others, made).provenances).toEqual(new Map([['k', PROVENANCE]]));
    const loss = { file: `${FOLDER}/a.srt`, row: 1, term: 'cell', expected: 'célula', missing: 1 };
    const losing = { ...made, provenance: { ...PROVENANCE, lost_terms: [loss] } };
    const moved = recordsOf([...intended, losing], { folder: FOLDER, readIn: '/elsewhere' }).provenances.get(
      'k',
    );
    expect(moved?.lost_terms).toEqual([{ ...loss, file: '/elsewhere/a.srt' }]);
  });

  it('keep prepared files by input and recipe', () => {
    const other = { ...PREPARED, recipe: 'convert', split: undefined };
    expect(view(PREPARED, other, PREPARED).prepared).toEqual([PREPARED, { ...other, split: null }]);
  });

  it('keep each version of a file by its owner until another one is in its place, and move with the folder', () => {
    const second = { ...FIRST, sha256: 'f'.repeat(64), asset: 'video', kept: 'audio' } as const;
    const begun = [OUTPUTS, { ...OUTPUTS, made: 'other', files: [second] }] as const;
    const versions = (...records: readonly BatchRecord[]) =>
      view(...records).findOutputs({ item: ITEM, step: 'result', path: FIRST.path });
    const newest = { ...OWNED, ...second, made: 'other' };
    expect(versions(...begun)).toEqual([{ ...OWNED, ...FIRST }, newest]);
    expect(versions(...begun, { ...begun[1], is_placed: true })).toEqual([newest]);
    expect(view(OUTPUTS).findOutputs({ item: ITEM, step: 'export' })).toEqual([]);
    expect(view(OUTPUTS).findOutputs({ path: `${FOLDER}/b.es.mp4` })).toEqual([]);
    expect(versions(OUTPUTS, { type: 'item_forgotten', at: AT, item: ITEM })).toEqual([]);
    const beside = { ...OUTPUTS, files: [{ ...FIRST, path: `${FOLDER}/../a.es.srt` }] };
    const moved = recordsOf([OUTPUTS, beside], { folder: FOLDER, readIn: '/else/where' });
    expect(moved.findOutputs({}).map(({ path }) => path)).toEqual(['/else/where/a.es.mp4', '/else/a.es.srt']);
  });

  it('call an input unusable until it is checked again', () => {
    expect(view(UNUSABLE).checked).toEqual({ unusable: new Map([[ITEM, UNUSABLE]]), usable: new Set() });
    const usable = { type: 'usable_input', item: ITEM } as const;
    expect(view(UNUSABLE, usable).checked).toEqual({ unusable: new Map(), usable: new Set([ITEM]) });
    for (const again of [intended[1], commandOf(['a'])]) {
      const settled = { unusable: new Map(), usable: new Set() };
      expect(view(UNUSABLE, again).checked, again.type).toEqual(settled);
      expect(view(usable, again).checked, again.type).toEqual(settled);
      const other = { ...UNUSABLE, item: keyOf('b') };
      expect(view(other, again).checked.unusable, again.type).toEqual(new Map([[other.item, other]]));
      expect(view(again).facts.size, again.type).toBe(0);
    }
  });

  it('have each command once, with the items of its last run and when they were named', () => {
    const [first, second] = [commandOf(['a', 'b']), commandOf(['b', 'c'], BEGIN + 1000)];
    const { commands, begun } = view(first, second);
    expect(commands).toEqual([second]);
    expect(begun).toEqual(
      new Map([
        [keyOf('b'), BEGIN + 1000],
        [keyOf('c'), BEGIN + 1000],
      ]),
    );
    const other = commandOf(['a'], BEGIN - 1000, ['dub', 'others', '--to', 'es']);
    expect(view(first, other).commands).toEqual([first, other]);
    expect(view(first, other).begun.get(ITEM)).toBe(BEGIN);
  });

  it.each([{ partial: true }, { options: { watch: true } }])(
    'have the items of all runs of a command with %o',
    (more) => {
      const [first, second] = [commandOf(['a']), commandOf(['b'], BEGIN + 1000)];
      const { commands } = view({ ...first, ...more }, { ...second, ...more });
      expect(commands.map(({ items }) => items)).toEqual([[keyOf('a'), keyOf('b')]]);
    },
  );

  it('forget an item with its facts and commands, and give its attempts to no item or another', () => {
    const others = [factsOf('c'), RECORDS.asked({ key: 'l', item: keyOf('c') })] as const;
    const records = [commandOf(['c', 'a']), ...others, ...intended, downloaded] as const;
    const gone = view(...records, { type: 'item_forgotten', at: AT, item: ITEM });
    expect([[...gone.facts.keys()], [...gone.begun.keys()]]).toEqual([[keyOf('c')], [keyOf('c')]]);
    expect(gone.attempts.byItem).toEqual(new Map([[keyOf('c'), ['l']]]));
    expect(gone.attempts.byKey.get('k')).toMatchObject({ item: null, state: 'downloaded' });
    const moved = view(...records, { type: 'item_forgotten', at: AT, item: ITEM, as: keyOf('b') });
    expect(moved.attempts.byItem.get(keyOf('b'))).toEqual(['k']);
  });

  it('keep damage with the kinds that were compared with the service since', () => {
    const { damages, lostJobs } = view(DAMAGED, COMPARED, { ...DAMAGED, kept: null });
    expect(damages).toEqual([
      { ...DAMAGED, comparedSince: ['dubbing'] },
      { ...DAMAGED, kept: null, comparedSince: [] },
    ]);
    expect(lostJobs).toEqual([
      { id: 'dub_1', kind: 'dubbing', job: LOST },
      { id: 'dub_2', kind: 'dubbing', job: null },
    ]);
  });
});

describe('records of several shards', () => {
  it('are combined without losing any', () => {
    const one = recordsOf([
      { type: 'batch_name', batch: 'b1', is_certain: true },
      ...intended,
      { type: 'made', key: 'k', provenance: PROVENANCE },
      commandOf(['a']),
      UNUSABLE,
      PREPARED,
      OUTPUTS,
    ]);
    const other = recordsOf(
      [
        factsOf('b'),
        RECORDS.asked({ key: 'l', item: keyOf('b') }),
        commandOf(['b'], BEGIN, ['dub', 'others']),
        { type: 'usable_input', item: keyOf('c') },
        DAMAGED,
        COMPARED,
        SUBTITLE,
        VIDEO,
      ],
      { damage: ['a row'] },
    );
    const both = combineRecords([one, other]);
    expect(both.name).toEqual(one.name);
    expect(both.isEmpty).toBe(false);
    expect(combineRecords([recordsOf([]), other]).isEmpty).toBe(false);
    expect(combineRecords([recordsOf([])])).toMatchObject({ isEmpty: true, name: null });
    expect([...both.attempts.byKey.keys()]).toEqual(['k', 'l']);
    expect([...both.facts.keys()]).toEqual([keyOf('a'), keyOf('b')]);
    expect(both.checked).toEqual({ unusable: one.checked.unusable, usable: new Set([keyOf('c')]) });
    expect(both.commands).toEqual([...one.commands, ...other.commands]);
    expect(both.begun).toEqual(new Map([...one.begun, ...other.begun]));
    expect(both.stages).toEqual(other.stages);
    expect(both.provenances).toEqual(one.provenances);
    expect(both.prepared).toEqual(one.prepared);
    expect(both.findOutputs({})).toEqual([...one.findOutputs({}), ...other.findOutputs({})]);
    expect([both.damages, both.lostJobs, both.damage]).toEqual([other.damages, other.lostJobs, ['a row']]);
  });
});
