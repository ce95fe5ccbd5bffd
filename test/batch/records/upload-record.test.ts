import { describe, expect, it } from 'vitest';
import { openUploadRecord, readUsableUploads } from '../../../src/batch/records/upload-record.ts';
import { makeFolder } from '../../support/make-folder.ts';

const BEGIN = Date.parse('2026-11-01T00:00:00.000Z');
const DAY_MS = 24 * 60 * 60_000;
const bytes = { sha256: 'a'.repeat(64), size: 5_000, purpose: 'source_video' as const };
const upload = (upload_id: string, days = 7) => ({
  ...bytes,
  upload_id,
  ready_at: new Date(BEGIN).toISOString(),
  expires_at: new Date(BEGIN + days * DAY_MS).toISOString(),
});

describe('the record of uploads', () => {
  it('finds the same bytes for the same purpose under the same profile, in every run', async () => {
    const folder = makeFolder();
    const record = openUploadRecord(folder, 'mine', () => BEGIN);
    await record.add(upload('upl_1'));
    expect(await openUploadRecord(folder, 'mine', () => BEGIN).find(bytes)).toEqual(upload('upl_1'));
    expect(await record.find({ ...bytes, sha256: 'b'.repeat(64) })).toBeNull();
    expect(await record.find({ ...bytes, size: 5_001 })).toBeNull();
    expect(await record.find({ ...bytes, purpose: 'subtitle_file' })).toBeNull();
    expect(await openUploadRecord(folder, 'other', () => BEGIN).find(bytes)).toBeNull();
  });

  it('returns the one that lasts longest, and none that is about to expire', async () => {
    let now = BEGIN;
    const record = openUploadRecord(makeFolder(), 'mine', () => now);
    await record.add(upload('upl_long', 7));
    await record.add(upload('upl_short', 3));
    expect((await record.find(bytes))?.upload_id).toBe('upl_long');
    now = BEGIN + 7 * DAY_MS - 10 * 60_000 - 1;
    expect((await record.find(bytes))?.upload_id).toBe('upl_long');
    now += 1;
    expect(await record.find(bytes)).toBeNull();
  });

  it('forgets one that the service rejected', async () => {
    const record = openUploadRecord(makeFolder(), 'mine', () => BEGIN);
    await record.add(upload('upl_1'));
    await record.remove('upl_1');
    expect(await record.find(bytes)).toBeNull();
    await record.add(upload('upl_2'));
    expect((await record.find(bytes))?.upload_id).toBe('upl_2');
  });

  it('drops expired ones when the same bytes are uploaded again', async () => {
    const folder = makeFolder();
    let now = BEGIN;
    const record = openUploadRecord(folder, 'mine', () => now);
    await record.add(upload('upl_1', 1));
    now += 2 * DAY_MS;
    await record.add(upload('upl_2', 7));
    expect((await readUsableUploads(folder, BEGIN)).map(({ upload_id: id }) => id)).toEqual(['upl_2']);
  });
});
