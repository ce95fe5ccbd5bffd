/** Stores used nonces: in a separate file, or in the database that several nodes share. */
import { LIMITS } from '../../protocol/limits.ts';
import { createCommitTogether } from '../store/commit-together.ts';
import { openSqliteFile } from '../store/sqlite-file.ts';
import { createSqliteStore } from '../store/sqlite-store.ts';
import type { Store } from '../store/store.ts';

export interface NonceMemory {
  /** Remembers a nonce for 601 s. Returns false if it is already known. Resolves when it is stored. */
  remember(keyId: string, nonce: string, now: number): Promise<boolean>;
  /** Removes expired nonces and returns their number. */
  sweep(now: number): Promise<number>;
  close(): Promise<void>;
}

// No index by time: it would cost every request more than it saves in the sweep, which reads about 60,000 rows per
// minute.
const TABLE = `
CREATE TABLE IF NOT EXISTS nonces (
  key_id TEXT NOT NULL,
  nonce TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (key_id, nonce)
) STRICT, WITHOUT ROWID;`;

const REMEMBER = `
INSERT INTO nonces VALUES (?, ?, ?)
ON CONFLICT (key_id, nonce) DO UPDATE SET expires_at = excluded.expires_at WHERE nonces.expires_at <= ?`;

const SWEEP = 'DELETE FROM nonces WHERE expires_at <= ?';

const expiryOf = (now: number) => now + LIMITS.nonceMemorySeconds * 1000;

/** 16 MiB of log instead of SQLite's 4: each checkpoint delays the requests at that moment. */
const CHECKPOINT_PAGES = 4000;

const ADVICE =
  'Stop every vloc on that folder, then remove this file and the ones whose names begin with it: it contains no jobs and no credits.';

/** Opens the nonce store at that path. It must survive the death of a process, but not a power failure. Several processes may share it. */
export function openNonceMemory(path: string): NonceMemory {
  const file = openSqliteFile(path, { synchronous: 'NORMAL', advice: ADVICE });
  file.script(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; ${TABLE}`);
  const store = createSqliteStore(file);
  const commitTogether = createCommitTogether(store);
  return {
    remember: (keyId, nonce, now) =>
      commitTogether(async (tx) => (await tx.run(REMEMBER, keyId, nonce, expiryOf(now), now)) === 1),
    sweep: (now) => store.run(SWEEP, now),
    close: () => store.close(),
  };
}

/** Uses the table of the account's database, so that a nonce is accepted once on all nodes. */
export function createSharedNonces(store: Store): NonceMemory {
  return {
    remember: async (keyId, nonce, now) =>
      (await store.run(REMEMBER, keyId, nonce, expiryOf(now), now)) === 1,
    sweep: (now) => store.run(SWEEP, now),
    close: async () => {},
  };
}
