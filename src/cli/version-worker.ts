/** Asks a registry for the newest version of vloc: a process of its own, which no command waits for. */
import { readFileSync } from 'node:fs';
import { get as getPlain } from 'node:http';
import { get } from 'node:https';
import { readUpdateRecord, writeRecord } from './update-record.ts';

/** A slower registry is asked again next week. */
const PATIENCE_MS = 10_000;
/** The answer is an object of a few tags; more is not from a registry. */
const MOST_CHARACTERS = 65_536;

/** The newest version by npm's protocol; null if the answer has none. Nothing is sent but the name of the package. */
export function askRegistry(registry: string): Promise<string | null> {
  const address = new URL('-/package/vloc/dist-tags', registry.endsWith('/') ? registry : `${registry}/`);
  const ask = address.protocol === 'http:' ? getPlain : get;
  const signal = AbortSignal.timeout(PATIENCE_MS);
  return new Promise((resolve) => {
    const request = ask(address, { signal, headers: { accept: 'application/json' } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MOST_CHARACTERS) request.destroy();
      });
      response.on('close', () => {
        const isWhole = response.statusCode === 200 && response.complete && text.length <= MOST_CHARACTERS;
        resolve(isWhole ? latestIn(text) : null);
      });
      response.on('error', () => resolve(null));
    });
    request.on('error', () => resolve(null));
  });
}

function latestIn(text: string): string | null {
  try {
    const { latest } = JSON.parse(text) as { readonly latest?: unknown }; // checked in this line and the next
    return typeof latest === 'string' && /^\d+\.\d+\.\d+(-[\w.-]+)?$/.test(latest) ? latest : null;
  } catch {
    return null;
  }
}

/** Adds the answer to the record. */
export async function learnLatest(registry: string, file: string): Promise<void> {
  const latest = await askRegistry(registry);
  if (latest !== null) writeRecord(file, { ...readUpdateRecord(readFileSync(file, 'utf8')), latest });
}

const [, script = '', registry, file] = process.argv;
if (/version-worker\.[jt]s$/.test(script) && registry !== undefined && file !== undefined) {
  await learnLatest(registry, file);
}
