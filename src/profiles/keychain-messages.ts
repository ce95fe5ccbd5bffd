/** What vloc and the keychain's own process tell each other. */

export type KeychainRequest =
  | { readonly action: 'read' | 'remove'; readonly account: string }
  | { readonly action: 'write'; readonly account: string; readonly secret: string };

/** The secret as it is stored now, null when there is none; or why the keychain cannot be used. */
export type KeychainAnswer = { readonly secret: string | null } | { readonly fault: string };
