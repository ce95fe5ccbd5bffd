import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJobRecord } from '../../../src/batch/records/job-record.ts';
import { newFolder } from './support/folder.ts';

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
  it('knows the kind of an id, for the profile that made it', async () => {
    const folder = newFolder();
    const record = openJobRecord(folder, 'mine', () => BEGIN);
    expect(await record.kindOf('dub_1')).toBeNull();
    await record.add(job('dub_1'));
    expect(await record.kindOf('dub_1')).toBe('dubbing');
    expect(await openJobRecord(folder, 'other', () => BEGIN).kindOf('dub_1')).toBeNull();
    expect(await openJobRecord(folder, 'mine', () => BEGIN).kindOf('dub_1')).toBe('dubbing');
  });

  it('lists the newest first, and results to fetch with the oldest first', async () => {
    const record = openJobRecord(newFolder(), 'mine', () => BEGIN);
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
    const folder = newFolder();
    const record = openJobRecord(folder, 'mine', () => BEGIN);
    await record.add(job('dub_1'));
    await record.see('dub_1', 'succeeded');
    await openJobRecord(folder, 'mine', () => BEGIN).see('dub_1', 'processing');
    await record.add(job('dub_1'));
    expect((await record.list())[0]?.state).toBe('succeeded');
  });

  it('writes a state once', async () => {
    const folder = newFolder();
    const record = openJobRecord(folder, 'mine', () => BEGIN);
    await record.add(job('dub_1'));
    await record.see('dub_1', 'processing');
    const before = readFileSync(join(folder, 'jobs.log'));
    await record.see('dub_1', 'processing');
    expect(readFileSync(join(folder, 'jobs.log'))).toEqual(before);
  });

  it('forgets a job when the service does: seven days after it was created', async () => {
    let now = BEGIN;
    const record = openJobRecord(newFolder(), 'mine', () => now);
    await record.add(job('dub_1'));
    now = BEGIN + 7 * DAY_MS - 1;
    expect(ids(await record.list())).toEqual(['dub_1']);
    now += 1;
    expect(await record.list()).toEqual([]);
    expect(await record.kindOf('dub_1')).toBeNull();
  });

  it('drops what is forgotten from the file, and keeps states, other profiles and unknown records', async () => {
    const folder = newFolder();
    const many = Array.from({ length: 800 }, (_, index) => job(`dub_old_${index}`));
    let now = BEGIN;
    const record = openJobRecord(folder, 'mine', () => now);
    const other = openJobRecord(folder, 'other', () => now);
    await Promise.all(many.map((old) => record.add(old)));
    await other.add(job('dub_theirs', 5));
    await record.add(job('dub_new', 5));
    await record.see('dub_new', 'succeeded');
    await record.markDownloaded('dub_new', ['out/new.wav']);
    now = BEGIN + 8 * DAY_MS;
    // Together they exceed the size from which the file is compacted.
    await Promise.all(many.slice(0, 500).map((old) => record.add(old)));
    const lines = readFileSync(join(folder, 'jobs.log'), 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(await record.list()).toEqual([
      { ...job('dub_new', 5), profile: 'mine', state: 'succeeded', downloaded: ['out/new.wav'] },
    ]);
    expect(ids(await other.list())).toEqual(['dub_theirs']);
  });

  it('keeps no query of an address', async () => {
    const folder = newFolder();
    const record = openJobRecord(folder, 'mine', () => BEGIN);
    await record.add({ ...job('dub_1'), inputs: ['https://a.example/x.srt?token=canary'] });
    expect(readFileSync(join(folder, 'jobs.log'), 'utf8')).not.toContain('canary');
    expect((await record.list())[0]?.inputs).toEqual(['https://a.example/x.srt']);
  });

  it('continues past damage, and says where it is', async () => {
    const folder = newFolder();
    const record = openJobRecord(folder, 'mine', () => BEGIN);
    for (const id of ['dub_1', 'dub_2']) await record.add(job(id));
    const path = join(folder, 'jobs.log');
    writeFileSync(path, readFileSync(path, 'utf8').replace('dub_1', 'dub_X'));
    expect(ids(await record.list())).toEqual(['dub_2']);
    expect(await record.damage()).toMatchObject([{ offset: 0 }]);
  });
});
