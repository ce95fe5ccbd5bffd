import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJobRecord, readRecentJobs } from '../../../src/batch/records/job-record.ts';
import { makeFolder } from '../../support/make-folder.ts';

const BEGIN = Date.parse('2026-11-01T00:00:00.000Z');
const DAY_MS = 24 * 60 * 60_000;
const job = (id: string, day = 0) => ({
  id,
  kind: 'dubbing' as const,
  created_at: new Date(BEGIN + day * DAY_MS).toISOString(),
  client_reference: null,
  command: 'dub',
  inputs: ['one.srt'],
  output_folder: 'out',
});
const ids = (jobs: readonly { id: string }[]) => jobs.map(({ id }) => id);

describe('the record of jobs', () => {
  it('knows the jobs of the profile that made them', async () => {
    const folder = makeFolder();
    const record = openJobRecord(folder, 'mine', () => BEGIN);
    expect(await record.list()).toEqual([]);
    await record.add(job('dub_1'));
    expect(ids(await record.list())).toEqual(['dub_1']);
    expect(await openJobRecord(folder, 'other', () => BEGIN).list()).toEqual([]);
    expect(ids(await openJobRecord(folder, 'mine', () => BEGIN).list())).toEqual(['dub_1']);
  });

  it('lists the newest first, and results to fetch with the oldest first', async () => {
    const record = openJobRecord(makeFolder(), 'mine', () => BEGIN);
    for (const id of ['dub_1', 'dub_2', 'dub_3', 'dub_4']) await record.add(job(id));
    await record.see('dub_1', 'succeeded');
    await record.see('dub_2', 'failed');
    await record.see('dub_3', 'succeeded');
    await record.markDownloaded('dub_3', ['out/one.wav']);
    expect(ids(await record.list())).toEqual(['dub_4', 'dub_3', 'dub_2', 'dub_1']);
    expect(ids(await record.listUnfetched())).toEqual(['dub_1', 'dub_4']);
    expect((await record.list())[1]).toMatchObject({ state: 'succeeded', downloaded: ['out/one.wav'] });
  });

  it('is not reset by a process that saw an older state', async () => {
    const folder = makeFolder();
    const record = openJobRecord(folder, 'mine', () => BEGIN);
    await record.add(job('dub_1'));
    await record.see('dub_1', 'succeeded');
    await openJobRecord(folder, 'mine', () => BEGIN).see('dub_1', 'processing');
    await record.add(job('dub_1'));
    expect((await record.list())[0]?.state).toBe('succeeded');
  });

  it('writes a state once', async () => {
    const folder = makeFolder();
    const record = openJobRecord(folder, 'mine', () => BEGIN);
    await record.add(job('dub_1'));
    await record.see('dub_1', 'processing');
    const before = readFileSync(join(folder, 'records.db'));
    await record.see('dub_1', 'processing');
    expect(readFileSync(join(folder, 'records.db'))).toEqual(before);
  });

  it('forgets a job when the service does: seven days after it was created', async () => {
    let now = BEGIN;
    const record = openJobRecord(makeFolder(), 'mine', () => now);
    await record.add(job('dub_1'));
    now = BEGIN + 7 * DAY_MS - 1;
    expect(ids(await record.list())).toEqual(['dub_1']);
    now += 1;
    expect(await record.list()).toEqual([]);
  });

  it('drops jobs of the last month but one, and keeps states and other profiles', async () => {
    const folder = makeFolder();
    const before = openJobRecord(folder, 'mine', () => BEGIN);
    await Promise.all(['dub_old', 'dub_older'].map((id) => before.add(job(id))));
    const now = () => BEGIN + 29 * DAY_MS;
    await openJobRecord(folder, 'other', now).add(job('dub_theirs', 29));
    const record = openJobRecord(folder, 'mine', now);
    await record.add(job('dub_new', 29));
    await record.see('dub_new', 'succeeded');
    await record.markDownloaded('dub_new', ['out/new.wav']);
    expect(await record.listAll()).toEqual([
      { ...job('dub_new', 29), profile: 'mine', state: 'succeeded', downloaded: ['out/new.wav'] },
    ]);
    expect(ids(await readRecentJobs(folder, now()))).toEqual(['dub_new', 'dub_theirs']);
  });

  it('knows the files that were about to get their names', async () => {
    const record = openJobRecord(makeFolder(), 'mine', () => BEGIN);
    const file = { path: '/out/one.wav', sha256: 'a'.repeat(64), size: 10 };
    await record.notePublishing('dub_1', file);
    await record.notePublishing('dub_1', { ...file, sha256: 'b'.repeat(64), kept: 'audio' });
    await record.notePublishing('dub_2', { ...file, path: '/out/two.wav' });
    expect(await record.published('dub_1')).toEqual([
      file,
      { ...file, sha256: 'b'.repeat(64), kept: 'audio' },
    ]);
  });

  it('keeps no query of an address', async () => {
    const folder = makeFolder();
    const record = openJobRecord(folder, 'mine', () => BEGIN);
    await record.add({ ...job('dub_1'), inputs: ['https://a.example/x.srt?token=canary'] });
    expect(readFileSync(join(folder, 'records.db'), 'latin1')).not.toContain('canary');
    expect((await record.list())[0]?.inputs).toEqual(['https://a.example/x.srt']);
  });

  it('continues past damage, and keeps the damaged file', async () => {
    const folder = makeFolder();
    const record = openJobRecord(folder, 'mine', () => BEGIN);
    for (const id of ['dub_1', 'dub_2']) await record.add(job(id));
    const path = join(folder, 'records.db');
    const damaged = readFileSync(path, 'latin1').replaceAll('"id":"dub_1"', '"id":"dub_X"');
    // Another file, as after a repair: this process must not go on with the one that it has open.
    rmSync(path);
    writeFileSync(path, damaged, 'latin1');
    expect(ids(await record.list())).toEqual(['dub_2']);
    expect(readFileSync(`${path}.damaged-1`, 'latin1')).toBe(damaged);
  });
});
