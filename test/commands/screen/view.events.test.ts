import { describe, expect, it } from 'vitest';
import type { BatchOutcome, ItemState } from '../../../src/batch/item.ts';
import { createBatchProgress } from '../../../src/commands/screen/progress.ts';
import { linesOfItem, summaryLine } from '../../../src/commands/screen/view.ts';
import { done, doneBefore, failed, item, itemEvent, processing } from '../batch/items.ts';

const talk = item('talk.mp4');

/** The lines of a life, without those named `item`. */
function linesOf(states: readonly ItemState[]) {
  const picture = createBatchProgress([]);
  return states
    .flatMap((state) => {
      const event = itemEvent(talk, state);
      const change = picture.add(event);
      return change === null ? [] : linesOfItem(change.before, change.now, event.atMs);
    })
    .filter(({ type }) => type !== 'item');
}

describe('the events of an item', () => {
  it('report a new job, its progress and its files under their established names', () => {
    const lines = linesOf([
      { phase: 'submitting' },
      { phase: 'queued', jobId: 'loc_1' },
      processing('loc_1', 0.405),
      { phase: 'downloading', jobId: 'loc_1', bytes: 0, total: 10, expiresAt: null },
      { phase: 'downloading', jobId: 'loc_1', bytes: 5, total: 10, expiresAt: null },
      done('loc_1'),
    ]);
    expect(lines).toEqual([
      { type: 'created', input: 'talk.mp4', id: 'loc_1', target_language: 'es' },
      { type: 'job', id: 'loc_1', status: 'queued', stage: null, progress: 0 },
      { type: 'job', id: 'loc_1', status: 'processing', stage: 'dubbing', progress: 40 },
      { type: 'job', id: 'loc_1', status: 'succeeded', stage: null, progress: 100 },
      {
        type: 'file',
        id: 'loc_1',
        asset: 'video',
        path: 'talk.es.mp4',
        bytes: 10,
        sha256: 'a'.repeat(64),
        skipped: false,
      },
    ]);
  });

  it('do not call a job of an earlier run new', () => {
    const types = linesOf([{ phase: 'waiting' }, processing('loc_1', 0), done('loc_1')]).map(
      ({ type }) => type,
    );
    expect(types).toEqual(['job', 'job', 'file']);
  });

  it('report a failure with all its details, and the state of its job', () => {
    expect(linesOf([processing('loc_1', 0), failed('loc_1')]).slice(1)).toEqual([
      { type: 'job', id: 'loc_1', status: 'failed', stage: null, progress: null },
      {
        type: 'failed',
        input: 'talk.mp4',
        target_language: 'es',
        id: 'loc_1',
        code: 'NO_SPEECH_DETECTED',
        message: 'no speech was found',
        retryable: false,
        request_id: 'req_1',
      },
    ]);
  });

  it('name an existing file, and no job', () => {
    expect(linesOf([doneBefore])).toMatchObject([
      { type: 'file', id: null, path: 'old.es.mp4', skipped: true },
    ]);
  });
});

it('an item is reported once for each phase', () => {
  const picture = createBatchProgress([]);
  const states = [processing('loc_1', 0.1), processing('loc_1', 0.2), done('loc_1')];
  const phases = states.flatMap((state) => {
    const event = itemEvent(talk, state, 500);
    const change = picture.add(event);
    return change === null ? [] : linesOfItem(change.before, change.now, event.atMs);
  });
  const items = phases.filter(({ type }) => type === 'item');
  expect(items).toMatchObject([
    { key: talk.key, label: 'talk.mp4 → es', phase: 'processing', at: '2026-11-21T02:00:00.500Z' },
    { phase: 'done', job_id: 'loc_1', charged_credits: 1 },
  ]);
});

it('the summary counts items by outcome, with credits and exit code', () => {
  const left: BatchOutcome['state'] = { phase: 'left', jobId: null, because: 'quota' };
  const outcomes = [done('a'), done('b'), failed(null), left].map((state) => ({ state }));
  expect(summaryLine(outcomes, { reserved: 1, charged: 2, unknown: 0 }, 6)).toEqual({
    type: 'summary',
    jobs: 4,
    done: 2,
    failed: 1,
    left: 1,
    charged_credits: 2,
    reserved_credits: 1,
    exit_code: 6,
  });
});

it('the summary has no sum of credits while the cost of a job is not known', () => {
  const line = summaryLine([{ state: done('a') }], { reserved: 0, charged: 0, unknown: 1 }, 0);
  expect(line).toMatchObject({ charged_credits: null, reserved_credits: null });
});
