import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { formatBytes } from '../../base/amounts.ts';
import { Failure, usageFailure } from '../../base/failure.ts';
import { choiceOption, flagOption, textOption } from '../../base/option.ts';
import { unlessDiskFails } from '../../base/system-error.ts';
import { isAddress, isHttps, ONLY_HTTPS } from '../../batch/inputs/candidate.ts';
import { type Content, readContent } from '../../batch/inputs/content.ts';
import { statReadable } from '../../batch/inputs/file-status.ts';
import { findKnownUpload, rememberUpload } from '../../batch/run/known-uploads.ts';
import type { Upload } from '../../client/index.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { UPLOAD_PURPOSES, type UploadPurpose } from '../../protocol/states.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import { type Connection, connectService } from '../context/connection.ts';
import type { Context, Io, Progress } from '../context/context.ts';
import { openLocalRecords } from '../context/local-records.ts';
import { printList } from '../context/records.ts';
import { outcomesFailure } from '../jobs/job-outcomes.ts';
import { createUploadReport, describeReady, UPLOAD_LIST, UPLOADS, uploadFields } from './uploads.ts';

export const upload: Command = defineCommand({
  operands: { name: 'file', count: 'many', help: 'videos and SRT files, or - for stdin' },
  options: {
    purpose: choiceOption(UPLOAD_PURPOSES, 'purpose of the upload (default: by the content of the file)'),
    fileName: textOption('name', 'file name to send to the service; for a single file'),
    clientReference: textOption('text', 'your own reference, 1 to 128 characters'),
    noWait: flagOption('return after the transfer, before validation'),
  },
  fields: uploadFields,
  examples: [
    {
      command: 'vloc upload lesson-1.mp4 lesson-2.mp4 -o id',
      explains: 'print ids that job commands accept as inputs',
    },
    {
      command: 'vloc upload talk.mp4 -o id | xargs vloc localize --to es',
      explains: 'upload once, use it any number of times within 7 days',
    },
    { command: 'cat talk.srt | vloc upload -', explains: 'from stdin' },
  ],
  notes: [
    'Job commands upload files automatically; this is for inputs that several of them share. Write a file that has the ' +
      'name of a subcommand as ./list.',
  ],
  prints: UPLOAD_LIST,
  run: async (context, operands, options) => {
    if (options.fileName !== undefined && operands.length > 1) {
      throw invalidCallFailure(
        '--file-name names one file, but several were given',
        'Leave it out, or upload them one by one.',
      );
    }
    const { sources, remove } = await readUploadSources(operands, options, context.io);
    try {
      return await uploadAll(context, sources, options);
    } finally {
      await remove();
    }
  },
});

interface UploadSettings {
  /** Undefined for the name of the file. */
  readonly fileName: string | undefined;
  readonly clientReference: string | undefined;
  readonly noWait: boolean;
}

async function uploadAll(
  context: Context,
  sources: readonly UploadSource[],
  settings: UploadSettings,
): Promise<number> {
  const connection = await connectService(context);
  const progress = await context.terminal.progress();
  const sent: Upload[] = [];
  const outcomes: { label: string; failure: Failure | null }[] = [];
  try {
    for (const source of sources) {
      try {
        sent.push(await uploadOne(context, connection, progress, source, settings));
        outcomes.push({ label: source.label, failure: null });
      } catch (error) {
        if (context.signal.aborted) throw context.signal.reason;
        if (!(error instanceof Failure)) throw error;
        progress.end(source.label, 'failed', error.message);
        outcomes.push({ label: source.label, failure: error });
      }
    }
    progress.close();
    await printList(context, UPLOADS, { data: sent });
    const failure = outcomesFailure(outcomes, 'files were not uploaded', 'Run it again for those.');
    if (failure !== null) throw failure;
    return 0;
  } finally {
    progress.close();
    await connection.close();
  }
}

async function uploadOne(
  context: Context,
  connection: Connection,
  progress: Progress,
  source: UploadSource,
  { fileName: askedName, clientReference, noWait }: UploadSettings,
): Promise<Upload> {
  const { label, path, bytes, ...description } = source;
  const { client, everyMs } = connection;
  const { signal, io } = context;
  const file = { path, bytes, purpose: description.purpose };
  const { uploads: record } = openLocalRecords(connection, io.now);
  // With a reference a new upload is wanted, which carries it.
  if (clientReference === undefined) {
    // A record that cannot be read or written only costs another upload.
    const known = await unlessDiskFails(() => findKnownUpload({ record, client }, file, signal), undefined);
    const name = known?.upload.file_name;
    // Likewise with a new name.
    if (known != null && (askedName === undefined || askedName === name)) {
      const before = name === description.fileName ? 'sent before' : `sent before as ${name}`;
      progress.end(label, 'done', `${describeReady(known.upload, bytes)}, ${before}`);
      return known.upload;
    }
  }
  const { upload: sent, sha256 } = await client.uploads.sendFile(path, {
    ...description,
    clientReference,
    signal,
    wait: !noWait,
    hash: true,
    ...(everyMs === null ? {} : { everyMs }),
    onProgress: createUploadReport(label, context, progress),
  });
  if (sha256 !== null && sent.status === 'ready') {
    const remember = () => rememberUpload(record, { upload: sent, sha256 }, file, io.now());
    await unlessDiskFails(remember, undefined);
  }
  progress.end(label, 'done', describeReady(sent, bytes));
  return sent;
}

export interface UploadSource extends Content {
  readonly label: string;
  readonly path: string;
  readonly bytes: number;
  readonly fileName: string;
}

interface UploadSources {
  readonly sources: readonly UploadSource[];
  /** Removes the temporary copy of stdin. */
  readonly remove: () => Promise<void>;
}

const LIMIT: Readonly<Record<UploadPurpose, number>> = {
  source_video: LIMITS.videoBytes,
  subtitle_file: LIMITS.subtitleBytes,
};

/**
 * Checks every operand. Stdin (`-`) is copied to a temporary file, because its size must be known before.
 * @param asked purpose and file name of the options; default: by content
 * @throws Failure of category usage that names every unusable file
 */
export async function readUploadSources(
  operands: readonly string[],
  asked: { purpose: UploadPurpose | undefined; fileName: string | undefined },
  io: Io,
): Promise<UploadSources> {
  const folders: string[] = [];
  const remove = async () => {
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  };
  try {
    const problems: { pointer: string; detail: string }[] = [];
    const sources: UploadSource[] = [];
    for (const operand of new Set(operands)) {
      const checked = isAddress(operand)
        ? explainAddress(operand)
        : await checkFile(
            operand,
            operand === '-' ? await keepStdin(io, folders) : resolve(io.cwd, operand),
            asked,
          );
      if (typeof checked === 'string') problems.push({ pointer: operand, detail: checked });
      else sources.push(checked);
    }
    if (problems.length === 0) return { sources, remove };
    const message = 'not everything can be uploaded; nothing was sent';
    throw usageFailure('NOT_USABLE', message, undefined, { errors: problems });
  } catch (error) {
    await remove();
    throw error;
  }
}

function explainAddress(address: string): string {
  return isHttps(address)
    ? 'only files and - are uploaded; give the address to the command of the job itself, such as localize'
    : `only files and - are uploaded, and ${ONLY_HTTPS}`;
}

async function checkFile(
  operand: string,
  path: string,
  asked: { purpose: UploadPurpose | undefined; fileName: string | undefined },
): Promise<UploadSource | string> {
  const found = await statReadable(path);
  if (typeof found === 'string') return found;
  if (found.bytes === 0) return 'it is empty';
  const content = await readContent(path, found.bytes);
  if (typeof content === 'string' && asked.purpose === undefined) return content;
  const { contentType } = typeof content === 'string' ? { contentType: 'application/octet-stream' } : content;
  const purpose = asked.purpose ?? (typeof content === 'string' ? 'source_video' : content.purpose);
  if (found.bytes >= LIMIT[purpose]) {
    return `${formatBytes(found.bytes)} is over the limit of ${formatBytes(LIMIT[purpose])} for ${purpose}`;
  }
  const fileName = asked.fileName ?? (operand === '-' ? 'stdin' : basename(path));
  return {
    label: operand === '-' ? 'stdin' : operand,
    path,
    bytes: found.bytes,
    fileName,
    contentType,
    purpose,
  };
}

/** One byte above the limit is enough to reject it. */
const STDIN_LIMIT = LIMITS.videoBytes + 1;

async function keepStdin({ stdin }: Io, folders: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vloc-stdin-'));
  folders.push(folder);
  const path = join(folder, 'stdin');
  let bytes = 0;
  await pipeline(
    stdin,
    async function* limited(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
        if (bytes >= STDIN_LIMIT) return;
      }
    },
    createWriteStream(path, { mode: 0o600 }),
  );
  return path;
}
