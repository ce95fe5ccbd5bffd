import { Failure } from '../../base/failure.ts';
import { choiceOption, flagOption, textOption } from '../../base/option.ts';
import { unlessDiskFails } from '../../base/system-error.ts';
import { findKnownUpload, rememberUpload } from '../../batch/run/known-uploads.ts';
import type { Upload } from '../../client/index.ts';
import { UPLOAD_PURPOSES } from '../../protocol/states.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import { type Connection, connect } from '../context/connection.ts';
import type { Context, Progress } from '../context/context.ts';
import { openLocalRecords } from '../context/local-records.ts';
import { printList } from '../context/records.ts';
import { outcomesFailure } from '../jobs/job-outcomes.ts';
import { createUploadReport, describeReady, UPLOADS, uploadFields } from './upload-records.ts';
import { readUploadSources, type UploadSource } from './upload-source.ts';

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
  schemas: async () => (await import('../account/outputs.ts')).UPLOAD_LIST,
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
  const connection = await connect(context);
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
    await printList(context, UPLOADS, { data: sent, has_more: false, next_cursor: null });
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
