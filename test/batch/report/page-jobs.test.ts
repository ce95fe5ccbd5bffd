import { expect, test } from 'vitest';
import type { ItemReport } from '../../../src/batch/report/item-report.ts';
import { pageJobs } from '../../../src/batch/report/page-jobs.ts';

const ITEM: ItemReport = {
  key: '["audio_separation","week1/talk.mp4",null]',
  label: 'week1/talk.mp4',
  kind: 'audio_separation',
  target_language: null,
  state: 'done',
  job_id: 'sep_01',
  error: null,
  files: [],
  credits: null,
  attempts: 1,
  asked_at: null,
  created_at: null,
  finished_at: null,
  downloaded_at: null,
  deadline: null,
};

/** The part of the facts that jobs are made of. */
function jobsOf(item: Partial<ItemReport>, fields: Record<string, unknown> = {}) {
  const whole = { ...ITEM, ...item };
  const facts = { items: [whole] };
  const known = {
    type: 'item_facts' as const,
    item: whole.key,
    label: whole.label,
    kind: whole.kind,
    path: '/in/week1/talk.mp4',
    size: 1,
    mtime_ms: 1,
    audio_track: 1,
    sha256: null,
    fields,
  };
  const stages = { subtitles: new Map(), finished: new Map() };
  return pageJobs(facts, { items: new Map([[whole.key, known]]), stages, folder: '/out' });
}

test('files that are parts of the result are on the page', () => {
  const files = ['vocal_audio', null].map((asset) => ({ asset, path: '/out/a.wav', bytes: 1, sha256: 'x' }));
  expect(jobsOf({ files })[0]?.files).toEqual([files[0]]);
});

test('an error keeps its request id, and says what to do if the code is known', () => {
  const error = { code: 'INSUFFICIENT_CREDITS', message: 'no', retryable: false, request_id: 'req_1' };
  const [job] = jobsOf({ state: 'refused', error });
  expect(job).toMatchObject({
    state: 'failed',
    request_ids: ['req_1'],
    failure: { code: 'INSUFFICIENT_CREDITS' },
  });
  expect(job?.failure?.advice).toMatch(/\w/);
});

test('an unfinished job says what it waits for', () => {
  expect(jobsOf({ state: 'waiting' })[0]).toMatchObject({ state: 'unfinished', waits_for: 'not started' });
  expect(jobsOf({ state: 'undelivered' })[0]).toMatchObject({ state: 'unfinished' });
  expect(jobsOf({ state: 'done' })[0]).toMatchObject({ state: 'done', waits_for: null });
});

test('options are shown without the callback address', () => {
  const fields = {
    mode: 'standard',
    callback_url: 'https://a.example',
    client_reference: 'ref',
    target_language: 'es',
  };
  const [job] = jobsOf({}, fields);
  expect(job?.options).toEqual({ mode: 'standard' });
  expect(job?.client_reference).toBe('ref');
});

test('a job has the engines and cues that the service named, and none from an older journal', () => {
  const engines = [{ step: 'speak', engine: 'espeak-ng', skipped: ['openai kokoro'] }] as const;
  const cues = [{ cues: [1], fit: 'tempo', speed: 1.4, tempo: 1.5, cut_seconds: 0 }] as const;
  expect(jobsOf({ provenance: { engines, cues } })).toMatchObject([{ engines, cues }]);
  expect(jobsOf({})).toMatchObject([{ engines: [], cues: [] }]);
});
