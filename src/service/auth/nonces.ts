/** Used nonces, in a file of their own: it must survive the death of a process, but not a loss of power. */
import { LIMITS } from '../../protocol/limits.ts';
import { createCommitTogether } from '../store/commit-together.ts';
import { openStore } from '../store/store.ts';

export interface NonceMemory {
  /** Remembers a nonce for 601 s; false if it is already known. Resolves once it is stored. */
  remember(keyId: string, nonce: string, now: number): Promise<boolean>;
  /** Removes expired nonces and returns their number. */
  sweep(now: number): number;
  close(): void;
}

// No index by time: it would cost every request more than the sweep saves, which reads some 60,000 rows a minute.
const TABLE = `
CREATE TABLE IF NOT EXISTS nonces (
  key_id TEXT NOT NULL,
  nonce TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (key_id, nonce)
) STRICT, WITHOUT ROWID;`;

const REMEMBER = `
INSERT INTO nonces VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET expires_at = excluded.expires_at WHERE nonces.expires_at <= ?`;

/** 16 MiB of log instead of SQLite's 4: every checkpoint holds up the requests of its moment. */
const CHECKPOINT_PAGES = 4000;

const ADVICE =
  'Stop every vloc on that folder, then remove this file and the ones whose names begin with it: it holds no jobs and no credits.';

/** Opens the memory at that path; several processes may share it. */
export function openNonceMemory(path: string): NonceMemory {
  const store = openStore(path, { synchronous: 'NORMAL', advice: ADVICE });
  store.script(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; ${TABLE}`);
  const commitTogether = createCommitTogether(store);
  return {
    remember: (keyId, nonce, now) =>
      commitTogether(() => {
        const expiresAt = now + LIMITS.nonceMemorySeconds * 1000;
        return store.run(REMEMBER, keyId, nonce, expiresAt, now) === 1;
      }),
    sweep: (now) => store.run('DELETE FROM nonces WHERE expires_at <= ?', now),
    close: () => store.close(),
  };
}
