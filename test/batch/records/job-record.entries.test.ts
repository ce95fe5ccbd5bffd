import { describe, expect, it } from 'vitest';
import { foldJobs, pickLiveJobs } from '../../../src/batch/records/job-record.ts';

const created = {
  type: 'job_created',
  profile: 'p',
  id: 'dub_1',
  kind: 'dubbing',
  created_at: '2026-11-01T00:00:00.000Z',
  client_reference: 'lesson 1',
  command: 'dub',
  inputs: [],
  output_folder: null,
};
const seen = (state: string) => ({ type: 'job_seen', profile: 'p', id: 'dub_1', state });

describe('jobs from records', () => {
  it('are the same from the live records as from all', () => {
    const future = { type: 'job_of_tomorrow', id: 'dub_1' };
    const records = [created, seen('processing'), future, created, seen('succeeded')];
    const live = pickLiveJobs(records, Date.parse(created.created_at));
    expect(live).toEqual([created, seen('succeeded'), future]);
    expect(foldJobs(live)).toEqual(foldJobs(records));
  });

  it('need their first record: a state of an unknown job is ignored', () => {
    expect(foldJobs([seen('succeeded')]).size).toBe(0);
  });
});
