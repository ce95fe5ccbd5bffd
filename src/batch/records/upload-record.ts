/** Uploads by the hash of their content, so that the same bytes are not sent twice. Source: specification, "Limits" (7 days). */
import { join } from 'node:path';
import * as v from 'valibot';
import { UPLOAD_PURPOSES, type UploadPurpose } from '../../protocol/states.ts';
import { openSharedLog } from './append-log.ts';
import type { LogRecord } from './record-line.ts';

const time = v.pipe(v.string(), v.isoTimestamp());

/** Times are RFC 3339, sizes bytes, hashes lower-case hex. */
const ready = v.object({
  type: v.literal('upload_ready'),
  profile: v.string(),
  sha256: v.string(),
  size: v.number(),
  upload_id: v.string(),
  purpose: v.picklist(UPLOAD_PURPOSES),
  ready_at: time,
  expires_at: time,
});
const gone = v.object({ type: v.literal('upload_gone'), profile: v.string(), upload_id: v.string() });
const uploadRecord = v.variant('type', [ready, gone]);

type ReadyUpload = Omit<v.InferOutput<typeof ready>, 'type' | 'profile'>;

/** What an upload must hold. */
interface WantedBytes {
  readonly sha256: string;
  readonly size: number;
  readonly purpose: UploadPurpose;
}

/** All writing resolves when it is on the disk and throws Failure (`disk`). */
export interface UploadRecord {
  add(upload: ReadyUpload): Promise<void>;
  /** Forgets an upload that the service no longer accepts. */
  remove(uploadId: string): Promise<void>;
  /** An upload of this profile with these bytes that can still be used, or null; of several the one that lasts longest. */
  find(wanted: WantedBytes): Promise<ReadyUpload | null>;
  /** Whether an upload of this profile with this size can still be used: computing the hash requires reading the file. */
  hasSize(size: number, purpose: UploadPurpose): Promise<boolean>;
}

export const UPLOAD_RECORD_FILE = 'uploads.log';

/** A job that is made from an upload may have to wait for its slot. */
const LEAST_LIFE_MS = 10 * 60_000;

/**
 * @param stateDir the state folder of vloc; the record is shared by all profiles and processes
 * @param profile see `profileId`
 * @param now milliseconds since the epoch
 */
export function openUploadRecord(stateDir: string, profile: string, now: () => number): UploadRecord {
  const log = openSharedLog(join(stateDir, UPLOAD_RECORD_FILE), (records) => pickLiveUploads(records, now()));

  async function readUsable(size: number, purpose: UploadPurpose): Promise<ReadyLine[]> {
    const uploads = foldUploads((await log.read()).records, now() + LEAST_LIFE_MS);
    return uploads.filter(
      (upload) => upload.profile === profile && upload.size === size && upload.purpose === purpose,
    );
  }

  return {
    add: (upload) => log.append({ type: 'upload_ready', profile, ...upload }),
    remove: (upload_id) => log.append({ type: 'upload_gone', profile, upload_id }),
    async find({ sha256, size, purpose }) {
      const usable = (await readUsable(size, purpose)).filter((upload) => upload.sha256 === sha256);
      usable.sort((left, right) => Date.parse(right.expires_at) - Date.parse(left.expires_at));
      const [best] = usable;
      if (best === undefined) return null;
      const { type: _type, profile: _profile, ...upload } = best;
      return upload;
    },
    hasSize: async (size, purpose) => (await readUsable(size, purpose)).length > 0,
  };
}

type ReadyLine = v.InferOutput<typeof ready>;

/** Uploads that were not taken back and outlast the moment. An id is used once, so the order does not matter. */
export function foldUploads(records: readonly LogRecord[], moment: number): ReadyLine[] {
  const lines = records.flatMap((record) => {
    const parsed = v.safeParse(uploadRecord, record);
    return parsed.success ? [parsed.output] : [];
  });
  const key = (line: { profile: string; upload_id: string }) => `${line.profile}/${line.upload_id}`;
  const removed = new Set(lines.filter(({ type }) => type === 'upload_gone').map(key));
  const uploads = new Map<string, ReadyLine>();
  for (const line of lines) {
    if (line.type === 'upload_gone' || removed.has(key(line))) continue;
    if (Date.parse(line.expires_at) > moment) uploads.set(key(line), line);
  }
  return [...uploads.values()];
}

function pickLiveUploads(all: Iterable<LogRecord>, now: number): LogRecord[] {
  const records = [...all];
  const unknown = records.filter((record) => !v.is(uploadRecord, record));
  return [...unknown, ...foldUploads(records, now)];
}
