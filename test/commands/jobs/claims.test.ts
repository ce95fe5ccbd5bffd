import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { Job } from '../../../src/client/index.ts';
import { readJob } from '../../../src/client/read/job.ts';
import {
  checkClashes,
  createClaims,
  createNaming,
  type NamingOf,
  nameOthers,
} from '../../../src/commands/jobs/result-places.ts';

const failureOf = (work: () => void): Failure | null => {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
};

describe('files claimed in a run', () => {
  it('belong to the first, also on case-insensitive disks', () => {
    const claims = createClaims();
    claims.take({ id: 'a' }, ['/out/Talk.srt']);
    const failure = failureOf(() => claims.take({ id: 'b' }, ['/out/talk.srt']));
    expect(failure?.facts).toMatchObject({ category: 'usage', code: 'RESULTS_CLASH', jobId: 'b' });
    expect(failure?.message).toContain('/out/Talk.srt of a');
    claims.take({ id: 'b' }, ['/out/other.srt']);
  });

  it('are claimed all or none', () => {
    const claims = createClaims();
    claims.take({ id: 'a' }, ['/out/1.wav']);
    expect(failureOf(() => claims.take({ id: 'b' }, ['/out/2.wav', '/out/1.wav']))).not.toBeNull();
    claims.take({ id: 'c' }, ['/out/2.wav']);
  });

  it('may not be one for two files of a job', () => {
    expect(failureOf(() => createClaims().take({ id: 'a' }, ['/out/a.wav', '/out/a.wav']))).not.toBeNull();
  });
});

describe('names that are known before the jobs are done', () => {
  const job = (id: string, status: string, more: object = {}): Job =>
    readJob('subtitle_translation', { id, status, input: { target_language: 'es' }, ...more }, null);
  const naming = (template: string): NamingOf => {
    const delivery = { folder: '/out', template, existing: 'replace' } as const;
    return createNaming([], delivery);
  };
  const clash = (jobs: readonly Job[], template: string) =>
    failureOf(() => checkClashes(jobs, naming(template)))?.facts.errors?.length ?? 0;

  it('are refused if two are the same', () => {
    const jobs = [job('a', 'processing'), job('b', 'queued'), job('c', 'processing')];
    expect(clash(jobs, '{lang}{ext}')).toBe(2);
    expect(clash(jobs, '{lang}.{id}{ext}')).toBe(0);
    expect(clash(jobs, '')).toBe(0);
  });

  it('are only those of jobs that may return a result', () => {
    expect(clash([job('a', 'processing'), job('b', 'failed'), job('c', 'cancelled')], 'x{ext}')).toBe(0);
  });

  it('exclude names that only the end will determine', () => {
    expect(clash([job('a', 'queued', { input: {} }), job('b', 'queued', { input: {} })], '{lang}{ext}')).toBe(
      0,
    );
  });
});

describe('the results of a job that this machine has no record of', () => {
  const delivery = { folder: '/out', template: '', existing: 'refuse' } as const;
  const client = { uploads: {} } as Parameters<typeof nameOthers>[3]; // these jobs have no upload
  const reference = 'vloc:0123456789:0123456789abcdef';
  const video = { source: { type: 'url', url: 'https://example.com/a/My%20talk.mp4?key=1' } };

  it.each([
    ['by the file at the address of their source', { ...video, target_language: 'es' }, null, 'My talk'],
    ['by the reference of their batch', {}, `${reference}:es:lesson%201`, 'lesson 1'],
    ['by nothing if their language is not known: it could be the name of the input', video, null, null],
    ['by nothing with a reference without a language', {}, `${reference}::talk`, null],
    ['by nothing if nothing is known', { target_language: 'es' }, reference, null],
  ])('are named %s', async (_, input, client_reference, stem) => {
    const fields = {
      id: 'a',
      status: 'succeeded',
      created_at: '2026-11-28T00:00:00Z',
      input,
      client_reference,
    };
    const job = readJob('auto_localization', fields, null);
    const names = await nameOthers([job], [], delivery, client, new AbortController().signal);
    expect(names.get('a')).toEqual(stem === null ? undefined : { stem, asked: 'es' });
  });
});
