/** What the hashing thread is told, and what it answers. */

/** Bytes in shared memory, in the order of the file; `finish` asks for the digest. */
export type HashOrder = { readonly type: 'update'; readonly bytes: Uint8Array } | { readonly type: 'finish' };

/** One `taken` for each `update`, in order; then the SHA-256, lower-case hex. */
export type HashAnswer = { readonly type: 'taken' } | { readonly type: 'digest'; readonly sha256: string };
