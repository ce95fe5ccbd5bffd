import { expect, test } from 'vitest';
import type { StageRecords } from '../../../src/batch/records/stage-records.ts';
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

const NO_STAGES: StageRecords = { subtitles: new Map(), finished: new Map() };

/** The part of the facts that jobs are made of. */
function jobsOf(item: Partial<ItemReport>, fields: Record<string, unknown> = {}, stages = NO_STAGES) {
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

test('a sample is an input of its own name, in one job and in stages', () => {
  const keys = [
    '["auto_localization","week1/talk.mp4","es","{stem}.{lang}.sample{ext}"]',
    '["auto_localization","week1/talk.mp4 (sample)","es","{stem}.{lang}.sample{ext}"]',
    '["dubbing","week1/talk.mp4 (sample)","es","{stem}.{asset}.{lang}{ext}"]',
  ];
  const names = keys.flatMap((key) => jobsOf({ key }).map(({ input_name }) => input_name));
  expect(new Set(names)).toEqual(new Set(['week1/talk.mp4 (sample)']));
  expect(jobsOf({})[0]?.input_name).toBe('week1/talk.mp4');
});

test('a sample that was made from the subtitles of the whole does not show them, since they are edited later', () => {
  const key = '["auto_localization","talk.mp4 (sample)","es","{stem}.{lang}.sample{ext}"]';
  const written = (video: string, path: string) =>
    [path, { video, path, role: 'target', language: 'es', digests: new Set<string>() }] as const;
  const subtitles = new Map([
    written('talk.mp4', 'talk.es.srt'),
    written('talk.mp4 (sample)', 'talk.sample.es.srt'),
  ]);
  const made = {
    type: 'stage_export',
    at: '',
    item: key,
    path: 'v.mp4',
    size: 1,
    sha256: '',
    made_of: '',
  } as const;
  const shown = (target: string) => {
    const finished = new Map([[key, { ...made, source: null, target, target_lines: null }]]);
    const stages = { subtitles, finished };
    const item = { key, kind: 'auto_localization', target_language: 'es' } as const;
    return jobsOf(item, {}, stages)[0]?.subtitles.map(({ path }) => path);
  };
  expect(shown('talk.es.srt')).toEqual([]);
  expect(shown('talk.sample.es.srt')).toEqual(['/out/talk.sample.es.srt']);
});
