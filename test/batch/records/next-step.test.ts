import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AttemptRecord } from '../../../src/batch/records/attempts.ts';
import { nextStepForItem } from '../../../src/batch/records/next-step.ts';
import { runs } from '../../protocol/arbitraries.ts';
import { anyRecords, BEGIN, foldAttempts, RECORDS } from './support/attempts.ts';

const ITEM = 'one.mp4 es';
const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const { asked, refused, accepted, finished, downloaded } = RECORDS;
const key = 'k1';
const stepAfter = (records: readonly AttemptRecord[], afterMs = 0) =>
  nextStepForItem(foldAttempts(records), ITEM, BEGIN + afterMs);

describe('the next step of an item', () => {
  it('is a new attempt if there was none', () => {
    expect(stepAfter([])).toEqual({ step: 'intend', after: null });
  });

  it('is the same request with the same key if nobody knows whether it arrived', () => {
    expect(stepAfter([asked({ key })])).toMatchObject({ step: 'submit', key, asked: { state: 'asked' } });
  });

  it('needs the user once the service has forgotten that request', () => {
    expect(stepAfter([asked({ key })], 7 * DAY_MS - HOUR_MS - 1)).toMatchObject({ step: 'submit' });
    expect(stepAfter([asked({ key })], 7 * DAY_MS - HOUR_MS)).toEqual({
      step: 'nothing',
      key,
      because: { reason: 'expired', jobId: null },
    });
  });

  it('needs the user for a request from the future: nobody knows how old it is', () => {
    expect(stepAfter([asked({ key })], -HOUR_MS + 1)).toMatchObject({ step: 'submit' });
    expect(stepAfter([asked({ key })], -HOUR_MS)).toMatchObject({
      step: 'nothing',
      because: { reason: 'expired', jobId: null },
    });
  });

  it('is to wait for a running job, and to fetch a finished one', () => {
    const running = [asked({ key }), accepted({ key })];
    expect(stepAfter(running)).toEqual({ step: 'attach', key, jobId: 'dub_k1' });
    expect(stepAfter([...running, finished({ key })])).toEqual({ step: 'download', key, jobId: 'dub_k1' });
  });

  it('counts the life of a job from its acceptance, not from the first attempt', () => {
    const late = [asked({ key }), accepted({ key, at: BEGIN + 3 * DAY_MS })];
    expect(stepAfter(late, 9 * DAY_MS)).toMatchObject({ step: 'attach' });
    expect(stepAfter(late, 10 * DAY_MS)).toMatchObject({ because: { reason: 'expired', jobId: 'dub_k1' } });
  });

  it('needs the user once the service has forgotten a result', () => {
    const done = [asked({ key }), accepted({ key }), finished({ key, at: BEGIN + DAY_MS })];
    expect(stepAfter(done, 8 * DAY_MS - 1)).toEqual({ step: 'download', key, jobId: 'dub_k1' });
    const because = { reason: 'expired', jobId: 'dub_k1' };
    expect(stepAfter(done, 8 * DAY_MS)).toEqual({ step: 'nothing', key, because });
  });

  it('is nothing if the files exist, however old they are', () => {
    const done = [asked({ key }), accepted({ key }), finished({ key }), downloaded({ key })];
    const { files } = downloaded({ key });
    const because = { reason: 'downloaded', files };
    expect(stepAfter(done, 30 * DAY_MS)).toEqual({ step: 'nothing', key, because });
  });

  it.each<[string, AttemptRecord[], object]>([
    ['refused', [refused({ key })], { reason: 'refused', code: 'INSUFFICIENT_CREDITS', retryable: false }],
    [
      'failed',
      [accepted({ key }), finished({ key, state: 'failed' })],
      { reason: 'failed', jobId: 'dub_k1', error: { code: 'ENGINE_ERROR', retryable: true } },
    ],
    [
      'cancelled',
      [accepted({ key }), finished({ key, state: 'cancelled' })],
      { reason: 'cancelled', error: null },
    ],
  ])('is a new attempt if the previous one was %s, and says why', (_what, records, after) => {
    expect(stepAfter([asked({ key }), ...records])).toMatchObject({ step: 'intend', after });
  });

  it('follows the newest attempt', () => {
    const anew = [asked({ key }), refused({ key }), asked({ key: 'k2' }), accepted({ key: 'k2' })];
    expect(stepAfter(anew)).toEqual({ step: 'attach', key: 'k2', jobId: 'dub_k2' });
  });

  it('never pays twice: a new attempt only if the previous one surely caused no charge', () => {
    fc.assert(
      fc.property(anyRecords, fc.nat(20 * DAY_MS), (records, later) => {
        const attempts = foldAttempts(records);
        const next = nextStepForItem(attempts, ITEM, BEGIN + later);
        const last = attempts.byKey.get(attempts.byItem.get(ITEM)?.at(-1) ?? '');
        if (next.step !== 'intend') return;
        const isFree = last === undefined || ['refused', 'failed', 'cancelled'].includes(last.state);
        expect(isFree).toBe(true);
      }),
      { numRuns: runs(1_000, 10_000) },
    );
  });
});
