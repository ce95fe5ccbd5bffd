/** Stores used nonces in a separate file. It must survive the death of a process, but not a power failure. */
import { LIMITS } from '../../protocol/limits.ts';
import { createCommitTogether } from '../store/commit-together.ts';
import { openSqliteFile } from '../store/sqlite-file.ts';
import { createSqliteStore } from '../store/sqlite-store.ts';

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

/** 16 MiB of log instead of SQLite's 4: each checkpoint delays the requests at that moment. */
const CHECKPOINT_PAGES = 4000;

const ADVICE =
  'Stop every vloc on that folder, then remove this file and the ones whose names begin with it: it holds no jobs and no credits.';

/** Opens the nonce store at that path. Several processes may share it. */
export function openNonceMemory(path: string): NonceMemory {
  const file = openSqliteFile(path, { synchronous: 'NORMAL', advice: ADVICE });
  file.script(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; ${TABLE}`);
  const store = createSqliteStore(file);
  const commitTogether = createCommitTogether(store);
  return {
    remember: (keyId, nonce, now) =>
      commitTogether(async (tx) => {
        const expiresAt = now + LIMITS.nonceMemorySeconds * 1000;
        return (await tx.run(REMEMBER, keyId, nonce, expiresAt, now)) === 1;
      }),
    sweep: (now) => store.run('DELETE FROM nonces WHERE expires_at <= ?', now),
    close: () => store.close(),
  };
}
