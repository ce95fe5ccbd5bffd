/**
 * Creates and revokes keys of a state folder without a running service. Running services use the changes immediately.
 */
import { randomBytes } from 'node:crypto';
import {
  describeKeys,
  dropKey,
  type IssuedKey,
  issueKey,
  type KeyDescription,
  type KeyRules,
  revokeKey,
} from '../auth/keys.ts';
import { foldersOf, prepareFolders } from '../folders.ts';
import { hasTraces, openAccountStore } from '../store/open-account.ts';
import type { OnUpgrade } from '../store/schema.ts';

export interface KeyAdmin {
  /** Creates a key. Its secrets are returned only this once. Rejects for an invalid address. */
  issue(rules: KeyRules): Promise<IssuedKey>;
  /** Deletes a key that was never used. */
  drop(id: string): Promise<void>;
  /** Returns all keys, including revoked ones, oldest first. */
  list(): Promise<readonly KeyDescription[]>;
  /** Revokes a key. Returns null if no key has that id. */
  revoke(id: string): Promise<KeyDescription | null>;
  close(): Promise<void>;
}

/** Returns whether a service has used the folder, even if its store is missing. */
export function hasService(stateDir: string): boolean {
  return hasTraces(foldersOf(stateDir));
}

/**
 * Opens the keys of a state folder, which is created if it is missing, or of the database, which needs no folder.
 * @param now ms since 1970
 */
export async function openKeyAdmin(
  stateDir: string,
  database: string | undefined,
  now: () => number,
  onUpgrade: OnUpgrade,
): Promise<KeyAdmin> {
  const store =
    database === undefined
      ? openAccountStore((await prepareFolders(stateDir)).folders, { onUpgrade })
      : await (await import('../store/open-postgres.ts')).openPostgresAccount(database, null, now, onUpgrade);
  return {
    issue: (rules) => issueKey(store, rules, now(), randomBytes),
    drop: (id) => dropKey(store, id),
    list: () => describeKeys(store),
    async revoke(id) {
      await revokeKey(store, id, now());
      return (await describeKeys(store)).find(({ key }) => key === id) ?? null;
    },
    close: () => store.close(),
  };
}
