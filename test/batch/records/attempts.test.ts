import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAttempt, forgetItems, PHASES, storeFiles } from '../../../src/batch/records/attempts.ts';
import { runs } from '../../protocol/arbitraries.ts';
import { anyRecords, BEGIN, foldAttempts, RECORDS } from './support/attempts.ts';
import { recordsOf } from './support/records-of.ts';

const phaseOf = (records: Parameters<typeof foldAttempts>[0], key = 'k1') =>
  foldAttempts(records).byKey.get(key)?.outcome.phase;

describe('an attempt', () => {
  it('that was refused may still be accepted under its key, but never the other way round', () => {
    const [intend, refused, accepted] = (['intend', 'refused', 'accepted'] as const).map((type) =>
      RECORDS[type]({ key: 'k1' }),
    );
    if (!intend || !refused || !accepted) throw new Error('three records were made');
    expect(phaseOf([intend, refused])).toBe('refused');
    expect(phaseOf([intend, refused, accepted])).toBe('accepted');
    expect(phaseOf([intend, accepted, refused])).toBe('accepted');
  });

  it('knows the files that a run was about to write, until all are downloaded, whatever comes later', () => {
    const [finished, publishing, downloaded] = (['finished', 'publishing', 'downloaded'] as const).map(
      (type) => RECORDS[type]({ key: 'k1' }),
    );
    if (!finished || !publishing || !downloaded) throw new Error('three records were made');
    const publishingOf = (records: Parameters<typeof foldAttempts>[0]) =>
      foldAttempts(records).byKey.get('k1')?.publishing;
    expect(publishingOf([finished])).toBeNull();
    expect(publishingOf([finished, publishing])).toEqual(publishing);
    expect(publishingOf([finished, publishing, downloaded])).toBeNull();
    expect(publishingOf([finished, publishing, downloaded, publishing])).toBeNull();
    expect(phaseOf([finished, publishing])).toBe('finished');
  });

  it.each([
    ['dubbing', 'createDubbing', '/v1/dubbings'],
    ['auto_localization', 'createAutoLocalization', '/v1/auto-localizations'],
  ] as const)('of a %s has the operation %s and the path %s', (kind, operation, path) => {
    const { type: _, operation: _operation, path: _path, ...fields } = RECORDS.intend({ key: 'k1' });
    expect(createAttempt({ ...fields, kind })).toMatchObject({ operation, path });
  });

  it('is recorded with the files of its result that were read', () => {
    const read = { asset: 'audio', path: 'out/one.wav', bytes: 10, sha256: 'a'.repeat(64), skipped: false };
    const files = [read, { ...read, bytes: null }, { ...read, sha256: null }];
    const { bytes: size, skipped: _, ...stored } = read;
    expect(storeFiles(files)).toEqual([{ ...stored, size, kept: undefined }]);
  });

  it('is recorded without secrets in its addresses', () => {
    const { type: _, ...fields } = RECORDS.intend({ key: 'k1' });
    const params = { source: { type: 'url', url: 'https://a.example/x.mp4?token=canary' } };
    const record = createAttempt({ ...fields, params });
    expect(JSON.stringify(record)).not.toContain('canary');
    expect(foldAttempts([record]).byKey.get('k1')?.asked).toEqual(record);
  });

  it.each(['intend', 'accepted', 'finished', 'downloaded'] as const)(
    'keeps the first %s record of a phase, whatever later ones say',
    (type) => {
      const first = RECORDS[type]({ key: 'k1', at: BEGIN });
      const later = { ...RECORDS[type]({ key: 'k1', at: BEGIN + 1_000 }), job_id: 'another' };
      const { asked, outcome, times } = foldAttempts([first, later]).byKey.get('k1') ?? {};
      expect(type === 'intend' ? asked : outcome && 'record' in outcome && outcome.record).toEqual(first);
      expect(times?.[type]).toBe(new Date(BEGIN).toISOString());
    },
  );

  it('keeps the last refusal, since the call may have been sent again', () => {
    const first = RECORDS.refused({ key: 'k1' });
    const last = { ...first, code: 'CREDIT_QUOTA_EXCEEDED' };
    expect(foldAttempts([first, last]).byKey.get('k1')?.outcome).toEqual({ phase: 'refused', record: last });
  });

  it('is listed under its item even if the request record comes after the answer', () => {
    const { byItem, byKey } = foldAttempts([RECORDS.accepted({ key: 'k1' }), RECORDS.intend({ key: 'k1' })]);
    expect(byItem.get('one.mp4 es')).toEqual(['k1']);
    expect(byKey.get('k1')?.outcome.phase).toBe('accepted');
  });

  it('names a file once for each content that it was about to get', () => {
    const first = RECORDS.publishing({ key: 'k1' });
    const file = (path: string, digit: string) => ({ path, sha256: digit.repeat(64), size: 10 });
    const second = {
      ...first,
      files: [file('out/one.wav', 'a'), file('out/one.wav', 'b'), file('out/two.wav', 'a')],
    };
    const { publishing } = foldAttempts([first, second, first]).byKey.get('k1') ?? {};
    expect(publishing).toEqual({ ...first, files: second.files });
  });

  it('is found by its item, the newest last', () => {
    const { byItem } = foldAttempts([RECORDS.intend({ key: 'k1' }), RECORDS.intend({ key: 'k2' })]);
    expect(byItem.get('one.mp4 es')).toEqual(['k1', 'k2']);
  });
});

describe('attempts from any records', () => {
  it('that are cut off anywhere are a beginning of all attempts', () => {
    fc.assert(
      fc.property(anyRecords, fc.nat(20), (records, cut) => {
        const early = foldAttempts(records.slice(0, cut));
        const late = foldAttempts(records);
        expect([...late.byKey.keys()].slice(0, early.byKey.size)).toEqual([...early.byKey.keys()]);
        for (const [key, attempt] of early.byKey) {
          const later = late.byKey.get(key);
          if (attempt.asked !== null) expect(later?.asked).toEqual(attempt.asked);
          const gain =
            PHASES.indexOf(later?.outcome.phase ?? 'intended') - PHASES.indexOf(attempt.outcome.phase);
          expect(gain).toBeGreaterThanOrEqual(0);
          if (gain === 0 && attempt.outcome.phase !== 'refused')
            expect(later?.outcome).toEqual(attempt.outcome);
        }
        for (const [item, keys] of early.byItem) {
          expect(late.byItem.get(item)?.slice(0, keys.length)).toEqual(keys);
        }
      }),
      { numRuns: runs(1_000, 10_000) },
    );
  });

  it('are the same if records come twice', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        const once = foldAttempts(records);
        expect(foldAttempts([...records, ...records])).toEqual(once);
        expect(foldAttempts(records.flatMap((record) => [record, record]))).toEqual(once);
      }),
      { numRuns: runs(1_000, 10_000) },
    );
  });

  it('are the same from the database as from the records', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        const folded = foldAttempts(records);
        const { byKey, byItem } = recordsOf(records, { folder: '/' }).attempts;
        const sorted = (items: typeof byItem) =>
          [...items].map(([item, keys]) => [item, keys.toSorted()]).sort();
        expect(sorted(byItem)).toEqual(sorted(folded.byItem));
        const absolute = JSON.parse(
          JSON.stringify([...folded.byKey]).replaceAll('"out/', `"${process.cwd()}/out/`),
        );
        expect(JSON.parse(JSON.stringify([...byKey]))).toEqual(absolute);
      }),
      { numRuns: runs(100, 1_000) },
    );
  });
});

describe('an item that was forgotten', () => {
  const life = (['intend', 'accepted', 'finished', 'downloaded'] as const).map((type) =>
    RECORDS[type]({ key: 'k1' }),
  );
  const item = foldAttempts(life).byKey.get('k1')?.item ?? '';
  const forgotten = { type: 'item_forgotten', at: '2026-11-21T12:00:00.000Z', item } as const;

  it('gives its attempts to another item, which gets the result anew', () => {
    const downloaded = RECORDS.downloaded({ key: 'k1' });
    const moved = [...life, { ...forgotten, as: 'other' }];
    for (const [records, phase] of [
      [moved, 'finished'],
      [[...moved, { ...downloaded, files: [] }], 'downloaded'],
    ] as const) {
      const { byItem, byKey } = recordsOf(records).attempts;
      expect([...byItem]).toEqual([['other', ['k1']]]);
      expect([byKey.get('k1')?.asked?.item, byKey.get('k1')?.outcome.phase]).toEqual(['other', phase]);
    }
    const known = foldAttempts([
      ...life,
      RECORDS.intend({ key: 'k2' }),
      RECORDS.intend({ key: 'k3', item: 'x' }),
    ]);
    const live = forgetItems(known, [{ ...forgotten, as: 'other' }]);
    expect([...live.byItem]).toEqual([
      ['x', ['k3']],
      ['other', ['k1', 'k2']],
    ]);
    expect(live.byKey.get('k1')?.outcome.phase).toBe('finished');
    expect(known.byItem.get(item)).toEqual(['k1', 'k2']);
    expect(recordsOf(moved, { folder: '/' }).attempts.byKey.get('k1')?.publishing).toMatchObject({
      files: downloaded.files.map((file) => ({ ...file, path: resolve(file.path) })),
    });
  });
});
