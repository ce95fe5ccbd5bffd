import type { Store } from '../store/store.ts';
import type { KeyRow } from './keys.ts';

/** All keys that work, in memory: finding one takes as long as finding none, and no look at the store. */
export interface KeyRing {
  /** The key of that id, or undefined when it is unknown or revoked. */
  find(id: string, now: number): KeyRow | undefined;
  /** Has a change that was made in this process seen at once. */
  forget(): void;
}

/** How long a change made by another process may take to be seen. */
const FRESH_MS = 1000;

const READ = `
  SELECT id, secret, permissions, monthly_limit, allowed_addresses
  FROM keys WHERE revoked_at IS NULL`;

/** Makes a ring that reads the keys again when a request comes and it is a second old. */
export function createKeyRing(store: Store): KeyRing {
  let keys = new Map<string, KeyRow>();
  let freshUntil = 0;
  return {
    find(id, now) {
      if (now >= freshUntil) {
        keys = new Map(store.all<KeyRow>(READ).map((row) => [row.id, row]));
        freshUntil = now + FRESH_MS;
      }
      return keys.get(id);
    },
    forget() {
      freshUntil = 0;
    },
  };
}
