/** Identifies the service and the key that a record belongs to. */
import { hash } from 'node:crypto';

/** 64 bits of SHA-256: enough that two profiles never get the same id. */
const ID_LENGTH = 16;

/**
 * Names a profile in records and in names of folders. The secret has no part in it, and the key cannot be read from it.
 * @param baseUrl of the service; for the embedded one, whose port differs from run to run, its state folder
 * @param keyId the public identifier of the API key
 */
export function profileId(baseUrl: string, keyId: string): string {
  return hash('sha256', `${baseUrl.replace(/\/+$/, '')}\n${keyId}`).slice(0, ID_LENGTH);
}
