/** Secrets of the service itself, which encrypt cursors and sign URLs. Created once, shared by all processes. */
import type { RandomBytes } from '../random.ts';
import type { Store } from './store.ts';

/** 256 bits, the full key size of HMAC-SHA256 and AES-256. */
export const SECRET_BYTES = 32;

type SecretName = 'cursors' | 'links';

/** Returns the secret of that name. The first caller creates it. */
export function ensureSecret(store: Store, name: SecretName, randomBytes: RandomBytes): Buffer {
  const read = () => store.get<{ value: Uint8Array }>('SELECT value FROM secrets WHERE name = ?', name);
  let row = read();
  if (row === undefined) {
    // If two processes start together, the second uses the secret of the first.
    store.run('INSERT INTO secrets VALUES (?, ?) ON CONFLICT DO NOTHING', name, randomBytes(SECRET_BYTES));
    row = read();
  }
  if (row === undefined) throw new Error(`the secret "${name}" could not be stored`);
  return Buffer.from(row.value);
}
