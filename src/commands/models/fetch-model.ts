/** Gets the files of models: from the hub or its mirror, from a server or from a folder with copies. */

import { copyFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { configurationFailure, Failure, refusedFailure, temporaryFailure } from '../../base/failure.ts';
import { makeFolder } from '../../base/folder.ts';
import { hashFile } from '../../base/hash-file.ts';
import { syncFile } from '../../base/sync.ts';
import { describeUnreadable, onDisk } from '../../base/system-error.ts';
import { downloadAsset } from '../../client/download/download.ts';
import { partOf } from '../../client/download/part-file.ts';
import { createTransferContext } from '../../client/transport/context.ts';
import type { Model, ModelFile } from '../../engines/models/catalog.ts';
import { proxySettings, readVariable } from '../../profiles/environment.ts';
import { isLoopback } from '../../protocol/loopback.ts';
import { printClientEvent } from '../context/connection.ts';
import type { Context } from '../context/context.ts';

const HUB = 'https://huggingface.co';

/** A file, its place, and what is told of its progress: bytes that are there. */
interface Wanted {
  readonly model: Model;
  readonly file: ModelFile;
  readonly to: string;
  readonly signal: AbortSignal;
  readonly onBytes: (bytes: number) => void;
}

export interface FileSource {
  /**
   * Puts a checked file into its place.
   * @throws Failure; the reason of the signal. What was received stays for the next run, unless it is wrong
   */
  fetch(wanted: Wanted): Promise<void>;
  close(): Promise<void>;
}

/** @param source of --source: a folder or an address, below which the files are at `ID/path`  @throws Failure */
export function openFileSource(source: string | undefined, context: Context): FileSource {
  if (source !== undefined && !/^https?:\/\//i.test(source)) {
    const folder = resolve(context.io.cwd, source);
    return { fetch: (wanted) => copyModelFile(folder, wanted), close: async () => {} };
  }
  const endpoint = readVariable(context.io.env, 'HF_ENDPOINT') ?? HUB;
  const start = parseAddress(source ?? endpoint, source === undefined ? 'HF_ENDPOINT' : '--source');
  const token = readVariable(context.io.env, 'HF_TOKEN');
  const transfer = createTransferContext(
    { origin: start.origin, loopback: isLoopback(start) },
    {
      ...context.io.pace,
      proxy: proxySettings(context.io.env),
      onEvent: (event) => printClientEvent(event, context),
    },
  );
  const base = start.href.replace(/\/+$/, '');
  return {
    async fetch({ model, file, to, signal, onBytes }) {
      const isOfHub = source === undefined && file.url.startsWith(`${HUB}/`);
      const path = isOfHub ? file.url.slice(HUB.length) : `/${model.id}/${file.path}`;
      const url = source === undefined && !isOfHub ? file.url : `${base}${path}`;
      const { sha256, bytes: size_bytes } = file;
      const asset = { url, expires_at: null, content_type: null, sha256, size_bytes };
      const authorization = isOfHub && token !== undefined ? `Bearer ${token}` : undefined;
      try {
        await downloadAsset(transfer, asset, { to, authorization, signal, onProgress: onBytes });
      } catch (error) {
        throw error instanceof Failure ? modelFileFailure(error, { model, file }, new URL(url)) : error;
      }
    },
    close: () => transfer.http.close(),
  };
}

function parseAddress(text: string, name: string): URL {
  const url = URL.parse(text);
  const isAllowed = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url));
  if (url !== null && isAllowed && url.username === '' && url.password === '' && url.search === '')
    return url;
  throw configurationFailure(
    'SOURCE_INVALID',
    `invalid ${name}: must start with https://, except on this machine, and have no user name, password or query`,
    'Write it as https://models.example.com/mirror.',
  );
}

type FileOfModel = Pick<Wanted, 'model' | 'file'>;

/** Names the model, and advises on models instead of jobs. */
function modelFileFailure(cause: Failure, { model, file }: FileOfModel, { host, origin }: URL): Failure {
  const { status, category, code, message } = cause.facts;
  const name = `${model.id}/${file.path}`;
  if (category === 'disk')
    return cause.with({ advice: 'Free some space, or choose another folder with VLOC_MODELS.' });
  if (status === 401 || status === 403) {
    return refusedFailure(
      'MODEL_REFUSED',
      `${host} refused ${name} (status ${status})`,
      `Accept the licence of the model at ${origin} with your account there, then set HF_TOKEN to a token of it.`,
      { status },
    );
  }
  if (status === 404 || status === 410) {
    return refusedFailure(
      'MODEL_GONE',
      `${host} does not have ${name} (status ${status})`,
      'Upgrade vloc for a newer catalogue, or choose another source with --source.',
      { status },
    );
  }
  const again = 'Run the same command again; it continues where it stopped.';
  if (code === 'DOWNLOAD_DAMAGED') return damagedFileFailure(`${name} from ${host}`);
  const what = code === 'DOWNLOAD_REFUSED' ? `${host} did not return the file (status ${status})` : message;
  return cause.with({ message: `${name}: ${what}`, advice: again });
}

function damagedFileFailure(name: string): Failure {
  return temporaryFailure(
    'MODEL_DAMAGED',
    `${name} has the wrong size or SHA-256`,
    'Run the same command again; if it fails again, choose another source with --source.',
    { retryable: true },
  );
}

async function copyModelFile(folder: string, { model, file, to, signal, onBytes }: Wanted): Promise<void> {
  const from = join(folder, model.id, file.path);
  signal.throwIfAborted();
  const facts = await stat(from).catch((error: unknown) => {
    throw configurationFailure(
      'SOURCE_INCOMPLETE',
      `cannot read ${from}: ${describeUnreadable(error) ?? String(error)}`,
      'Copy the whole folder of the model; `vloc models install --dry-run --output json` lists its files.',
    );
  });
  if (facts.size !== file.bytes) throw damagedFileFailure(from);
  const part = partOf(to);
  await onDisk(part, async () => {
    await makeFolder(dirname(to));
    await rm(part, { force: true });
    await copyFile(from, part);
    if ((await hashFile(part)) !== file.sha256) {
      await rm(part);
      throw damagedFileFailure(from);
    }
    await syncFile(part);
    await rename(part, to);
  });
  onBytes(file.bytes);
}
