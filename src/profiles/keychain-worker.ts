/**
 * Entry of the keychain's own process: one request as JSON on stdin, one answer as JSON on stdout. A process, since the
 * native call cannot be interrupted where the keychain of the system hangs.
 */
import { text } from 'node:stream/consumers';

export type KeychainRequest =
  | { readonly action: 'read' | 'remove'; readonly account: string }
  | { readonly action: 'write'; readonly account: string; readonly secret: string };

/** The secret as it is stored now, null when there is none; or why the keychain cannot be used. */
export type KeychainAnswer = { readonly secret: string | null } | { readonly fault: string };

/** Name of the entry as the system shows it. */
const SERVICE = 'vloc';

/** Without it, Linux falls back to the kernel's keyring, which forgets everything at the next start. */
const LASTING = { linux: { store: 'secret-service' } } as const;

async function serve(request: KeychainRequest): Promise<string | null> {
  const { Entry } = await import('@napi-rs/keyring');
  const entry = new Entry(SERVICE, request.account, LASTING);
  switch (request.action) {
    case 'read':
      return entry.getPassword();
    case 'write':
      entry.setPassword(request.secret);
      return entry.getPassword();
    case 'remove':
      entry.deleteCredential();
      return null;
  }
}

async function answer(): Promise<KeychainAnswer> {
  try {
    const request = JSON.parse(await text(process.stdin)) as KeychainRequest; // the sender is the file beside this one
    return { secret: await serve(request) };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

process.stdout.write(JSON.stringify(await answer()));
