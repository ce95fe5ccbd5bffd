/** Keys of a state folder, made and revoked without a running service; those that run see it at once. */
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

export interface KeyAdmin {
  /** Makes a key; its secrets are given this once. Throws for an address that is none. */
  issue(rules: KeyRules): IssuedKey;
  /** Takes back a key that nobody has used. */
  drop(id: string): void;
  /** All keys, including revoked ones, the oldest first. */
  list(): readonly KeyDescription[];
  /** Revokes a key; null when there is none of that id. */
  revoke(id: string): KeyDescription | null;
  close(): void;
}

/** Whether a service has been in that folder, also when its store is gone. */
export function hasService(stateDir: string): boolean {
  return hasTraces(foldersOf(stateDir));
}

/**
 * Opens the keys of a state folder; makes the folder when it is missing.
 * @param now ms since 1970
 */
export async function openKeyDesk(stateDir: string, now: () => number): Promise<KeyAdmin> {
  const { folders } = await prepareFolders(stateDir);
  const store = openAccountStore(folders);
  return {
    issue: (rules) => issueKey(store, rules, now(), randomBytes),
    drop: (id) => dropKey(store, id),
    list: () => describeKeys(store),
    revoke(id) {
      revokeKey(store, id, now());
      return describeKeys(store).find(({ key }) => key === id) ?? null;
    },
    close: () => store.close(),
  };
}
