/** Uploads by the hash of their content, so that the same bytes are not sent twice. Source: specification, "Limits" (7 days). */
import type { UploadPurpose } from '../../protocol/states.ts';
import type { Row } from './database.ts';
import { openMachineDatabase, readMachine } from './machine-database.ts';

/** Times are RFC 3339, sizes bytes, hashes lower-case hex. */
interface ReadyUpload {
  readonly sha256: string;
  readonly size: number;
  readonly upload_id: string;
  readonly purpose: UploadPurpose;
  readonly ready_at: string;
  readonly expires_at: string;
}

/** Content that an upload must have. */
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

/** A job that is made from an upload may have to wait for its slot. */
const LEAST_LIFE_MS = 10 * 60_000;

/**
 * @param stateDir the state folder of vloc; the record is shared by all profiles and processes
 * @param profile see `profileId`
 * @param now milliseconds since the epoch
 */
export function openUploadRecord(stateDir: string, profile: string, now: () => number): UploadRecord {
  const { write, find } = openMachineDatabase(stateDir);

  async function readUsable(wanted: Pick<WantedBytes, 'size' | 'purpose'>): Promise<readonly ReadyUpload[]> {
    const uploads = (await find('uploads', { profile, ...wanted })).map(readUpload);
    return uploads.filter(isUsableAt(now() + LEAST_LIFE_MS));
  }

  return {
    add: ({ upload_id, ...upload }) =>
      write((database) => {
        for (const { upload_id: id = null, ...row } of database.find('uploads', {
          profile,
          size: upload.size,
        }))
          if (!isUsableAt(now())(readUpload(row))) database.remove('uploads', { profile, upload_id: id });
        database.change('uploads', { profile, upload_id }, { ...upload });
      }),
    remove: (upload_id) => write((database) => database.remove('uploads', { profile, upload_id })),
    async find({ sha256, size, purpose }) {
      const usable = (await readUsable({ size, purpose })).filter((upload) => upload.sha256 === sha256);
      const [best = null] = usable.toSorted(
        (left, right) => Date.parse(right.expires_at) - Date.parse(left.expires_at),
      );
      return best;
    },
    hasSize: async (size, purpose) => (await readUsable({ size, purpose })).length > 0,
  };
}

/** Uploads of all profiles that can still be used. */
export async function readUsableUploads(stateDir: string, now: number): Promise<readonly ReadyUpload[]> {
  const uploads = ((await readMachine(stateDir)).rows.get('uploads') ?? []).map(readUpload);
  return uploads.filter(isUsableAt(now));
}

const isUsableAt =
  (moment: number) =>
  ({ expires_at }: ReadyUpload) =>
    Date.parse(expires_at) > moment;

function readUpload({ profile: _, ...row }: Row): ReadyUpload {
  return row as Row & ReadyUpload; // this file has written it, and the checksum of the row fits
}
