import { describe, expect, it } from 'vitest';
import { groupJobs, worstState } from '../../../src/batch/report/page-jobs.ts';
import { pageJob } from './page-job.ts';

describe('jobs of one input', () => {
  it('are grouped if one used the result of another', () => {
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

  it('are not those of its sample, whose results are made from a part of it', () => {
    const sample = { input_name: 'a.mp4 (sample)', input_path: '/in/a.mp4' };
    const heard = { kind: 'subtitle_recognition', ...sample, files: ['/out/a.sample.en.srt'] } as const;
    const es = { target_language: 'es' };
    const jobs = [
      pageJob({ input_name: 'a.mp4', input_path: '/in/a.mp4', ...es }),
      pageJob(heard),
      pageJob({ kind: 'dubbing', input_name: 'a.mp4 (sample)', ...es }),
      pageJob({ ...sample, ...es }),
    ];
    const groups = groupJobs(jobs).map(({ name, jobs: own }) => [name, own.length]);
    expect(groups).toEqual([
      ['a.mp4', 1],
      ['a.mp4 (sample)', 3],
    ]);
  });

  it('with other options are alternative results, each with the jobs that both share', () => {
    const separation = pageJob({ kind: 'audio_separation', input_path: '/in/a.mp4' });
    const es = { input_path: '/in/a.mp4', target_language: 'es' };
    const mixed = pageJob({ ...es, files: ['/out/a.es.mp4'] });
    const muted = pageJob({ ...es, files: ['/out/a-mute.mp4'], options: { original_audio: 'mute' } });
    const groups = groupJobs([separation, mixed, muted]);
    expect(groups.map(({ variant, jobs }) => [variant, jobs])).toEqual([
      ['original_audio default', [separation, mixed]],
      ['original_audio mute', [separation, muted]],
    ]);
  });

  it('with the same options are distinguished by their files', () => {
    const es = { input_path: '/in/a.mp4', target_language: 'es' };
    const jobs = ['/out/one.mp4', '/out/two.mp4'].map((path) => pageJob({ ...es, files: [path] }));
    expect(groupJobs(jobs).map(({ variant }) => variant)).toEqual(['one.mp4', 'two.mp4']);
    expect(groupJobs([pageJob(es)]).map(({ variant }) => variant)).toEqual([null]);
  });

  it('that are made from one of several results are grouped with that one', () => {
    const es = { target_language: 'es' };
    const translate = (name: string) =>
      pageJob({
        kind: 'subtitle_translation',
        ...es,
        input_path: '/in/a.srt',
        files: [`/out/${name}.srt`],
      });
    const [first, second] = [translate('first'), translate('second')];
    const dub = (path: string, voice_mode: string) =>
      pageJob({ kind: 'dubbing', ...es, input_path: path, options: { voice_mode } });
    const [male, female] = [dub('/out/first.srt', 'male'), dub('/out/first.srt', 'female')];
    const groups = groupJobs([first, second, male, female]);
    expect(groups.map(({ variant, jobs }) => [variant, jobs])).toEqual([
      ['second.srt', [second]],
      ['voice_mode male', [first, male]],
      ['voice_mode female', [first, female]],
    ]);
  });

  it('that are made from one result are not shown with the other one', () => {
    const es = { target_language: 'es', input_path: '/in/a.srt' };
    const translate = (name: string) =>
      pageJob({ ...es, kind: 'subtitle_translation', files: [`/out/${name}.srt`] });
    const [first, second] = [translate('first'), translate('second')];
    const dub = pageJob({ ...es, kind: 'dubbing', input_path: '/out/first.srt' });
    expect(groupJobs([first, second, dub]).map(({ jobs }) => jobs)).toEqual([[first, dub], [second]]);
  });

  it('at addresses are distinguished by name', () => {
    const jobs = ['https://a.example/1', 'https://a.example/2'].map((input_name) => pageJob({ input_name }));
    expect(groupJobs(jobs).map(({ name }) => name)).toEqual(['https://a.example/1', 'https://a.example/2']);
  });

  it('that refer to each other in a circle end the search', () => {
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
