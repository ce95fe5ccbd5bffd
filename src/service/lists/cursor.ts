/**
 * Cursors: sealed, and bound to the operation, the key and the filters that they were made for.
 * Source: contract, "Lists".
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { LIMITS } from '../../protocol/limits.ts';
import type { RandomBytes } from '../random.ts';

/** Where a page ended: time and id of its last row. */
export interface Position {
  readonly time: number;
  readonly id: string;
}

export interface CursorSealer {
  /** @param scope text that the cursor is only good for */
  seal(position: Position, scope: string): string;
  /** The position, or null when the cursor was changed, made for another scope, or not made here. */
  open(cursor: string, scope: string): Position | null;
}

const CIPHER = 'aes-256-gcm';
/** What GCM is made for; random ones may be drawn 2^32 times under one secret. */
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Makes a sealer; all processes of one state folder use the same secret of 32 bytes. */
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
      // A cursor has one spelling: the decoder would skip characters that do not belong.
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
