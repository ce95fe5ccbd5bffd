import { describe, expect, it } from 'vitest';
import { groupJobs, worstState } from '../../../src/batch/report/page-source.ts';
import { pageJob } from './page-job.ts';

describe('jobs of one input', () => {
  it('stand together when one took the result of another', () => {
    const jobs = [
      pageJob({ kind: 'subtitle_recognition', input_path: '/in/talk.mp4', files: ['/out/talk.en.srt'] }),
      pageJob({
        kind: 'subtitle_translation',
        input_path: '/out/talk.en.srt',
        files: ['/out/talk.es.srt'],
        target_language: 'es',
      }),
      pageJob({ kind: 'dubbing', input_path: '/out/talk.es.srt', target_language: 'es' }),
    ];
    const groups = groupJobs(jobs);
    expect(groups).toHaveLength(1);
    expect(groups[0]).toMatchObject({ path: '/in/talk.mp4', language: 'es', jobs });
  });

  it('are divided by language, and those without one belong to each', () => {
    const separation = pageJob({ kind: 'audio_separation', input_path: '/in/a.mp4' });
    const es = pageJob({ input_path: '/in/a.mp4', target_language: 'es' });
    const fr = pageJob({ input_path: '/in/a.mp4', target_language: 'fr' });
    const groups = groupJobs([separation, es, fr]);
    expect(groups.map(({ language, jobs }) => [language, jobs])).toEqual([
      ['es', [separation, es]],
      ['fr', [separation, fr]],
    ]);
  });

  it('at addresses are told apart by name', () => {
    const jobs = ['https://a.example/1', 'https://a.example/2'].map((input_name) => pageJob({ input_name }));
    expect(groupJobs(jobs).map(({ name }) => name)).toEqual(['https://a.example/1', 'https://a.example/2']);
  });

  it('that name each other in a circle end the search', () => {
    const one = pageJob({ input_path: '/a', files: ['/b'] });
    const other = pageJob({ input_path: '/b', files: ['/a'] });
    expect(groupJobs([one, other]).flatMap(({ jobs }) => jobs)).toHaveLength(2);
  });
});

describe('the state of an entry', () => {
  it('is the one that needs most attention', () => {
    expect(worstState([{ state: 'done' }, { state: 'unfinished' }, { state: 'failed' }])).toBe('failed');
    expect(worstState([{ state: 'done' }, { state: 'unfinished' }])).toBe('unfinished');
    expect(worstState([{ state: 'done' }])).toBe('done');
  });
});
