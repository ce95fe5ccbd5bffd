/** Asks a registry for the newest version of vloc: a process of its own, which no command waits for. */
import { readFileSync } from 'node:fs';
import { collectBody } from '../base/http.ts';
import { createHttp } from '../base/http-client.ts';
import { readUpdateRecord, writeRecord } from './update-record.ts';

/** A slower registry is asked again next week. */
const PATIENCE_MS = 10_000;
/** The answer is an object of a few tags; more is not from a registry. */
const MAX_BYTES = 65_536;

/** The newest version by npm's protocol; null if the answer has none. Nothing is sent but the name of the package. */
export async function askRegistry(registry: string): Promise<string | null> {
  const { origin, pathname } = new URL(
    '-/package/vloc/dist-tags',
    registry.endsWith('/') ? registry : `${registry}/`,
  );
  const http = createHttp({});
  try {
    const asked = { origin, target: pathname, method: 'GET', headers: { accept: 'application/json' } };
    const answer = await http.send({ ...asked, body: null, signal: AbortSignal.timeout(PATIENCE_MS) });
    return answer.status === 200 ? latestIn((await collectBody(answer, MAX_BYTES)).toString('utf8')) : null;
  } catch {
    return null;
  } finally {
    await http.close();
  }
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
