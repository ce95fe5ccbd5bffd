/** Cursors of lists: the end of a page, encrypted, so that a caller can neither read nor change it. Source: contract, "Lists". */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { LIMITS } from '../protocol/limits.ts';
import type { RandomBytes } from './random.ts';

/** The end of a page: time and id of its last row. */
interface Position {
  readonly time: number;
  readonly id: string;
}

export interface CursorSealer {
  /** @param scope the cursor is valid only for this text */
  seal(position: Position, scope: string): string;
  /**
   * Returns the position, or null if the cursor was changed, created for another scope, or not created by this service.
   */
  open(cursor: string, scope: string): Position | null;
}

const CIPHER = 'aes-256-gcm';
/** The size that GCM is designed for. Up to 2^32 random values may be used with one secret. */
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Creates a sealer. All processes of one state folder use the same secret of 32 bytes. */
export function createCursorSealer(secret: Buffer, randomBytes: RandomBytes): CursorSealer {
  return {
    seal(position, scope) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, secret, iv).setAAD(Buffer.from(scope));
      const sealed = Buffer.concat([cipher.update(`${position.time} ${position.id}`), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    open(cursor, scope) {
      const bytes = Buffer.from(cursor, 'base64url');
      // Only the exact encoding is valid: the decoder would skip invalid characters.
      const foreign = cursor.length > LIMITS.cursorLength || bytes.toString('base64url') !== cursor;
      if (foreign || bytes.length <= IV_BYTES + TAG_BYTES) return null;
      const decipher = createDecipheriv(CIPHER, secret, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(scope)).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      const opened = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
      try {
        decipher.final();
      } catch {
        return null;
      }
      const [time = '', id = ''] = opened.toString().split(' ');
      return { time: Number(time), id };
    },
  };
}
