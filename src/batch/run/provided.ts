import type { SubtitleInput } from '../../protocol/request-types.ts';
import type { Units } from '../item.ts';

/** What a job is made from. */
export interface Provided {
  readonly source: SubtitleInput;
  /** SHA-256 of the input, lower-case hex; null for what is only named. */
  readonly sha256: string | null;
  /** Null when nobody can say. */
  readonly units: Units | null;
  /** A job was sent, or none will be: the next file may be uploaded. */
  readonly use: () => void;
}
