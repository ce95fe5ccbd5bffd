import type { Store } from '../store/store.ts';
import type { KeyRow } from './keys.ts';

/** All keys that work, in memory: finding one takes as long as finding none. */
export interface KeyRing {
  /** The key of that id, or undefined when it is unknown or revoked. */
  find(id: string): KeyRow | undefined;
  /** Has a change seen that was made in this process; those of others are seen without it. */
  forget(): void;
}

/** Changes when another process has written to the store: a key that was revoked there is refused here at once. */
const VERSION = 'PRAGMA data_version';

const READ = `
  SELECT id, secret, permissions, monthly_limit, allowed_addresses
  FROM keys WHERE revoked_at IS NULL`;

/**
 * Makes a ring that reads the keys again when a request comes and the store has changed. It looks once for all requests
 * that arrived at the same moment: a look costs a tenth of what a request does.
 */
export function createKeyRing(store: Store): KeyRing {
  let keys = new Map<string, KeyRow>();
  let seen: number | null = null;
  let looked = false;
  const lookAgain = () => {
    looked = false;
  };
  const look = () => {
    looked = true;
    // Runs before anything else is read from a socket.
    setImmediate(lookAgain);
    const version = store.get<{ data_version: number }>(VERSION)?.data_version ?? 0;
    if (version === seen) return;
    keys = new Map(store.all<KeyRow>(READ).map((row) => [row.id, row]));
    seen = version;
  };
  return {
    find(id) {
      if (!looked) look();
      return keys.get(id);
    },
    forget() {
      seen = null;
      looked = false;
    },
  };
}
