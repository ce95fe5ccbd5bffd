/** Keys of the service's own: what seals cursors and signs addresses; made once, shared by all processes. */
import type { RandomBytes } from '../random.ts';
import type { Store } from './store.ts';

/** 256 bits: what HMAC-SHA256 and AES-256 use in full. */
export const SECRET_BYTES = 32;

type SecretName = 'cursors' | 'links';

/** The secret of that name; the first caller makes it. */
export function ensureSecret(store: Store, name: SecretName, randomBytes: RandomBytes): Buffer {
  const read = () => store.get<{ value: Uint8Array }>('SELECT value FROM secrets WHERE name = ?', name);
  let row = read();
  if (row === undefined) {
    // Two processes may start together: the second keeps the file of the first.
    store.run('INSERT INTO secrets VALUES (?, ?) ON CONFLICT DO NOTHING', name, randomBytes(SECRET_BYTES));
    row = read();
  }
  if (row === undefined) throw new Error(`the secret "${name}" could not be stored`);
  return Buffer.from(row.value);
}
