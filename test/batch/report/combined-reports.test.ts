import { describe, expect, it } from 'vitest';
import { partKey } from '../../../src/batch/records/item-key.ts';
import { gatherParts, withoutTriedSamples } from '../../../src/batch/report/combined-reports.ts';
import type { ItemReport } from '../../../src/batch/report/item-report.ts';

const KEY = '["auto_localization","talk.mp4","es"]';

const report = (changes: Partial<ItemReport>): ItemReport => ({
  key: KEY,
  label: 'talk.mp4 → es',
  kind: 'auto_localization',
  target_language: 'es',
  state: 'waiting',
  job_id: null,
  error: null,
  files: [],
  credits: null,
  attempts: 0,
  asked_at: null,
  created_at: null,
  finished_at: null,
  downloaded_at: null,
  deadline: null,
  ...changes,
});

const part = (number: number, changes: Partial<ItemReport>, made = 'm') =>
  report({
    key: partKey(KEY, { part: number, of: 2, made }),
    credits: { reserved: 0, charged: 0.1 },
    attempts: 1,
    asked_at: `2026-11-21T12:0${number}:00.000Z`,
    job_id: `loc_${number}`,
    ...changes,
  });

describe('an item in parts', () => {
  it('is one line, with the total cost', () => {
    const whole = report({ state: 'done', attempts: 1, asked_at: '2026-11-21T12:05:00.000Z' });
    const other = report({ key: '["auto_localization","b.mp4","es"]', state: 'running' });
    const gathered = gatherParts([whole, part(1, { state: 'done' }), other, part(2, { state: 'done' })]);
    expect(gathered).toHaveLength(2);
    expect(gathered[0]).toMatchObject({
      state: 'done',
      credits: { charged: 0.2 },
      attempts: 2,
      asked_at: '2026-11-21T12:01:00.000Z',
    });
    expect(gathered[1]).toBe(other);
  });

  it('was made by the engines of all parts, each of which counts its own cues', () => {
    const use = { step: 'speak', engine: 'openai kokoro', skipped: [] } as const;
    const cue = { cues: [3], fit: 'cut', speed: 1, tempo: 4, cut_seconds: 0.5 } as const;
    const provenance = { engines: [use], cues: [cue] };
    const parts = [part(1, { state: 'done', provenance }), part(2, { state: 'done', provenance })];
    const [item] = gatherParts([report({}), ...parts]);
    const cues = [
      { ...cue, part: 1 },
      { ...cue, part: 2 },
    ];
    expect(item?.provenance).toEqual({ engines: [use], cues });
    expect(gatherParts([report({}), part(1, {})])[0]).not.toHaveProperty('provenance');
  });

  it('has the state of the part that is least advanced, and names the part that failed', () => {
    const failure = { code: 'ENGINE_ERROR', message: 'it broke', retryable: true, request_id: null };
    const failed = part(2, { state: 'failed', error: failure });
    const [item] = gatherParts([report({}), part(1, { state: 'running' }), failed]);
    expect(item).toMatchObject({
      state: 'failed',
      job_id: 'loc_2',
      error: { message: 'part 2 of 2: it broke' },
    });
    expect(
      gatherParts([report({}), part(1, { state: 'done' }), part(2, { state: 'running' })]),
    ).toMatchObject([{ state: 'running' }]);
  });

  it('is not done before its parts are joined, nor after a new division', () => {
    const parts = [part(1, { state: 'done' }), part(2, { state: 'done' })];
    expect(gatherParts([report({}), ...parts])).toMatchObject([{ state: 'undelivered', files: [] }]);
    const before = report({ state: 'done', asked_at: '2026-11-21T11:00:00.000Z' });
    expect(gatherParts([before, part(1, { state: 'done' })])).toMatchObject([{ state: 'running' }]);
  });

  it('does not count the failures of parts of an earlier division', () => {
    const old = part(1, { state: 'failed', asked_at: '2026-11-21T10:00:00.000Z' }, 'old');
    expect(gatherParts([report({}), old, part(1, { state: 'running' })])).toMatchObject([
      { state: 'running' },
    ]);
  });

  it('is reported even if its own record is lost', () => {
    expect(gatherParts([part(1, { state: 'running' })])).toMatchObject([{ key: KEY, state: 'running' }]);
  });
});

describe('a sample', () => {
  const SAMPLE = '["auto_localization","talk.mp4","es","{stem}.{lang}.sample{ext}"]';
  const paid = (charged: number) => ({ job_id: 'loc_1', credits: { reserved: 0, charged } });
  const sample = report({ key: SAMPLE, state: 'done', ...paid(1) });
  const recognition = report({
    ...{ key: '["subtitle_recognition","talk.mp4 (sample)",null,"{stem}.{asset}.{lang}{ext}"]' },
    ...{ kind: 'subtitle_recognition', target_language: null, state: 'done', ...paid(2) },
  });
  const other = report({ key: SAMPLE.replace('"es"', '"fr"'), target_language: 'fr', state: 'failed' });
  const whole = report({ state: 'done', ...paid(10) });

  it('goes when its whole is done, with its jobs in stages, and what they cost stays', () => {
    const [first, ...rest] = withoutTriedSamples([sample, recognition, other, whole]);
    expect([first, rest.map(({ key }) => key)]).toEqual([other, [whole.key]]);
    expect(rest[0]?.credits).toEqual({ reserved: 0, charged: 13 });
  });

  it('stays while the whole is not done, and while it is paid and not here', () => {
    for (const state of ['running', 'failed', 'waiting'] as const) {
      const items = [sample, recognition, report({ state })];
      expect(withoutTriedSamples(items)).toEqual(items);
    }
    const running = [report({ key: SAMPLE, state: 'running' }), whole];
    expect(withoutTriedSamples(running)).toEqual(running);
  });
});
