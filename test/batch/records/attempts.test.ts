import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  billOf,
  createAttempt,
  forgetItems,
  STATE_RANKS,
  storeFiles,
} from '../../../src/batch/records/attempts.ts';
import { runs } from '../../protocol/arbitraries.ts';
import { anyRecords, BEGIN, foldAttempts, RECORDS } from './support/attempts.ts';
import { recordsOf } from './support/records-of.ts';

type Records = Parameters<typeof foldAttempts>[0];

const key = 'k1';
const { asked, refused, accepted, finished, downloaded } = RECORDS;
const attemptAfter = (...records: Records) => foldAttempts([asked({ key }), ...records]).byKey.get(key);

const never = () => {
  throw new Error('it was asked for');
};

describe('an attempt', () => {
  it('that was refused may still be accepted under its key, but never the other way round', () => {
    expect(attemptAfter(refused({ key }))).toMatchObject({ state: 'refused', error: 'INSUFFICIENT_CREDITS' });
    const states = [
      [refused({ key }), accepted({ key })],
      [accepted({ key }), refused({ key })],
    ].map((records) => attemptAfter(...records));
    for (const attempt of states)
      expect(attempt).toMatchObject({ state: 'accepted', job_id: 'dub_k1', error: null, retryable: false });
  });

  it('cannot change before it was asked for', () => {
    expect(() => foldAttempts([accepted({ key })])).toThrow('there is no attempt k1');
  });

  it('has the newest bill, and its quantity also where a later run does not know it', () => {
    expect(billOf(attemptAfter() ?? never())).toBeNull();
    const billed = { type: 'changed', key, bill_status: 'reserved', quantity: 3, reserved: 3 } as const;
    const released = { type: 'changed', key, bill_status: 'released', quantity: null } as const;
    const costs = { reserved_credits: 3, charged_credits: null };
    expect(billOf(attemptAfter(billed) ?? never())).toEqual({ status: 'reserved', quantity: 3, ...costs });
    expect(billOf(attemptAfter(billed, released) ?? never())).toEqual({
      status: 'released',
      quantity: 3,
      ...costs,
    });
    expect(attemptAfter(billed)?.state).toBe('asked');
  });

  it('is recorded with the files of its result that were read', () => {
    const read = { asset: 'audio', path: 'out/one.wav', bytes: 10, sha256: 'a'.repeat(64), skipped: false };
    const files = [read, { ...read, bytes: null }, { ...read, sha256: null }];
    const { bytes: size, skipped: _, ...stored } = read;
    expect(storeFiles(files)).toEqual([{ ...stored, size, kept: undefined }]);
  });

  it('is recorded without secrets in its addresses', () => {
    const { type: _, ...fields } = asked({ key });
    const request = { source: { type: 'url', url: 'https://a.example/x.mp4?token=canary' } };
    const record = createAttempt({ ...fields, request });
    expect(JSON.stringify(record)).not.toContain('canary');
    expect(foldAttempts([record]).byKey.get(key)?.request).toEqual(record.request);
  });

  it.each(['asked', 'accepted', 'finished', 'downloaded'] as const)(
    'keeps the first %s record, whatever later ones say',
    (type) => {
      const first = RECORDS[type]({ key, at: BEGIN });
      const later = { ...RECORDS[type]({ key, at: BEGIN + 1_000 }), job_id: 'another', item: 'another' };
      expect(attemptAfter(first, later)).toEqual(attemptAfter(first));
    },
  );

  it('has the files of the last delivery, which may have other tracks', () => {
    const files = [{ path: '/one.mp4', sha256: 'c'.repeat(64), size: 9, kept: 'audio' }];
    expect(attemptAfter(downloaded({ key }), { ...downloaded({ key }), files })?.files).toEqual(files);
  });

  it('keeps the last refusal, since the call may have been sent again', () => {
    const last = { ...refused({ key }), error: 'CREDIT_QUOTA_EXCEEDED' };
    expect(attemptAfter(refused({ key }), last)).toMatchObject({
      state: 'refused',
      error: 'CREDIT_QUOTA_EXCEEDED',
    });
  });

  it('is found by its item, the newest last', () => {
    const { byItem } = foldAttempts([asked({ key }), asked({ key: 'k2' })]);
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
          const { state, ...then } = late.byKey.get(key) ?? attempt;
          expect(then).toMatchObject({ request: attempt.request, asked_at: attempt.asked_at });
          expect(STATE_RANKS[state]).toBeGreaterThanOrEqual(STATE_RANKS[attempt.state]);
          if (state === attempt.state && state !== 'refused') expect({ state, ...then }).toEqual(attempt);
        }
        for (const [item, keys] of early.byItem) {
          expect(late.byItem.get(item)?.slice(0, keys.length)).toEqual(keys);
        }
      }),
      { numRuns: runs(300, 10_000) },
    );
  });

  it('are the same if records come twice', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        const once = foldAttempts(records);
        expect(foldAttempts([...records, ...records])).toEqual(once);
        expect(foldAttempts(records.flatMap((record) => [record, record]))).toEqual(once);
      }),
      { numRuns: runs(300, 10_000) },
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
      { numRuns: runs(40, 1_000) },
    );
  });
});

describe('an item that was forgotten', () => {
  const life = [asked, accepted, finished, downloaded].map((make) => make({ key }));
  const item = foldAttempts(life).byKey.get(key)?.item ?? '';
  const forgotten = { type: 'item_forgotten', at: '2026-11-21T12:00:00.000Z', item } as const;

  it('gives its attempts to another item, which gets the result anew', () => {
    const moved = [...life, { ...forgotten, as: 'other' }];
    const again = { ...downloaded({ key }), files: [{ path: '/other.wav', sha256: 'b', size: 1 }] };
    for (const [records, state] of [
      [moved, 'succeeded'],
      [[...moved, again], 'downloaded'],
    ] as const) {
      const { byItem, byKey } = recordsOf(records).attempts;
      expect([...byItem]).toEqual([['other', ['k1']]]);
      expect(byKey.get(key)).toMatchObject({ item: 'other', state });
    }
    const known = foldAttempts([...life, asked({ key: 'k2' }), asked({ key: 'k3', item: 'x' })]);
    const live = forgetItems(known, [{ ...forgotten, as: 'other' }]);
    expect([...live.byItem]).toEqual([
      ['x', ['k3']],
      ['other', ['k1', 'k2']],
    ]);
    expect(live.byKey.get(key)?.state).toBe('succeeded');
    expect(known.byItem.get(item)).toEqual(['k1', 'k2']);
    const { files } = downloaded({ key });
    expect(recordsOf(moved, { folder: '/' }).attempts.byKey.get(key)).toMatchObject({
      files: files.map((file) => ({ ...file, path: resolve(file.path) })),
    });
  });
});
