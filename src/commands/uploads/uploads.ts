/** Formats uploads and their progress. */
import * as v from 'valibot';
import { formatBytes } from '../../base/amounts.ts';
import { EXIT_CODES } from '../../base/exit-codes.ts';
import { usageFailure } from '../../base/failure.ts';
import { choiceOption, numberOption, textOption } from '../../base/option.ts';
import { flagName } from '../../batch/inputs/field-flags.ts';
import type { Client, Upload, UploadFilters, UploadProgress } from '../../client/index.ts';
import { uploadFields } from '../../client/read/upload.ts';
import { checkUploadRequest } from '../../protocol/requests.ts';
import { shapeOf } from '../../protocol/shape.ts';
import { UPLOAD_PURPOSES, UPLOAD_STATUSES } from '../../protocol/states.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { connectService } from '../context/connection.ts';
import type { Context, Progress } from '../context/context.ts';
import { formatDuration, formatRelative } from '../context/format.ts';
import { listOptions, readListRequest, readPages } from '../context/lists.ts';
import {
  Anything,
  describeList,
  describeRecord,
  describeRecordOrList,
  NullableNumber,
  NullableText,
} from '../context/output-schemas.ts';
import { printList, printRecord, type RecordForm } from '../context/records.ts';
import { collectRows, readReferences } from '../context/references.ts';
import { outcomesFailure } from '../jobs/job-outcomes.ts';
import { stepOfUpload } from '../screen/progress.ts';

export { uploadFields };

export const UPLOADS: RecordForm<Upload> = {
  plural: 'uploads',
  idOf: (upload) => upload.id,
  columns: [
    { head: 'UPLOAD', field: 'id' },
    { head: { title: 'STATUS', status: true }, field: 'status' },
    { head: { title: 'FOR', drops: 3 }, field: 'purpose' },
    { head: { title: 'FILE', wraps: 15 }, field: 'file_name' },
    { head: { title: 'SIZE', drops: 2 }, field: 'size_bytes', text: sizeOf },
    { head: { title: 'CONTENT', wraps: 15 }, field: 'media', text: contentOf },
    { head: { title: 'EXPIRES', drops: 1 }, field: 'expires_at', text: expiryOf },
  ],
};

function sizeOf({ size_bytes: bytes }: Upload): string {
  return bytes === null ? '-' : formatBytes(bytes);
}

/** `31 s of video`, `12 lines`, or why it was not accepted. */
function contentOf({ error, media, subtitle }: Upload): string {
  if (error !== null) return error.message;
  const seconds = media?.duration_seconds ?? null;
  if (seconds !== null) return `${formatDuration(seconds * 1000)} of video`;
  const lines = subtitle?.lines ?? null;
  return lines === null ? '-' : `${lines} lines`;
}

function expiryOf({ status, expires_at: instant }: Upload, nowMs: number): string {
  return status === 'expired' ? 'expired' : formatRelative(instant, nowMs);
}

const WAITING_PHASES = {
  reserving: 'uploading',
  completing: 'validating',
  validating: 'validating',
  ready: 'validating',
} as const;

/** Shows the progress of an upload with rate and remaining time. */
export function createUploadReport(
  label: string,
  context: Context,
  progress: Progress,
): (upload: UploadProgress) => void {
  const begin = context.io.now();
  return (upload) => {
    if (upload.stage !== 'sending') {
      progress.show(label, { phase: WAITING_PHASES[upload.stage], fraction: null });
      return;
    }
    progress.show(label, stepOfUpload(upload.bytes, upload.total, context.io.now() - begin));
  };
}

/** `ready: 31 s of video, 521 kB`. */
export function describeReady(upload: Upload, bytes: number): string {
  const seconds = upload.media?.duration_seconds ?? null;
  return `${upload.status}: ${seconds === null ? '' : `${formatDuration(seconds * 1000)} of video, `}${formatBytes(bytes)}`;
}

/** Does the work with a connection that is closed afterwards; returns the exit code. */
async function withUploads(
  context: Context,
  work: (uploads: Client['uploads']) => Promise<void>,
): Promise<number> {
  const connection = await connectService(context);
  try {
    await work(connection.client.uploads);
    return EXIT_CODES.done.code;
  } finally {
    await connection.close();
  }
}

const UploadSchema = shapeOf<Upload>()(
  v.object({
    id: v.string(),
    object: v.literal('upload'),
    status: v.picklist(UPLOAD_STATUSES),
    purpose: v.nullable(v.picklist(UPLOAD_PURPOSES)),
    file_name: NullableText,
    content_type: NullableText,
    size_bytes: NullableNumber,
    upload_request: v.nullable(
      v.object({
        method: v.literal('PUT'),
        url: v.string(),
        headers: v.record(v.string(), v.string()),
        expires_at: v.string(),
      }),
    ),
    media: v.nullable(
      v.object({
        duration_seconds: NullableNumber,
        container: NullableText,
        video: v.nullable(Anything),
        audio: v.nullable(Anything),
      }),
    ),
    subtitle: v.nullable(v.object({ lines: NullableNumber, duration_seconds: NullableNumber })),
    error: v.nullable(v.object({ code: v.string(), message: v.string() })),
    client_reference: NullableText,
    created_at: NullableText,
    updated_at: NullableText,
    expires_at: NullableText,
    detail_url: v.string(),
  }),
);

const UPLOAD_RECORD = describeRecord(UploadSchema);

export const UPLOAD_LIST = describeList(UploadSchema);

const UPLOAD_RECORDS = describeRecordOrList(UploadSchema);

export const uploadGet: Command = defineCommand({
  operands: { name: 'id', count: 'many', help: 'upload ids, or - for stdin' },
  options: {},
  fields: uploadFields,
  examples: [
    { command: 'vloc upload get upl_01k9x2m4n6p8q0r2s4t6v8w0y2', explains: 'its state and its media facts' },
    {
      command: 'vloc upload get upl_01k9x2m4n6p8q0r2s4t6v8w0y2 --jq .status',
      explains: 'only its state, for a script',
    },
  ],
  prints: UPLOAD_RECORDS,
  run: async (context, operands) => {
    const { ids, single } = await readReferences(operands, context.io);
    return withUploads(context, async (uploads) => {
      const { found, outcomes } = await collectRows(context, ids, (id) =>
        uploads.get(id, { signal: context.signal }),
      );
      const [only] = found;
      if (!single) await printList(context, UPLOADS, { data: found });
      else if (only !== undefined) await printRecord(context, UPLOADS, only);
      const failure = outcomesFailure(outcomes, 'uploads could not be read', 'Check their ids.');
      if (failure !== null) throw failure;
    });
  },
});

export const uploadList: Command = defineCommand({
  options: listOptions('listUploads'),
  fields: uploadFields,
  examples: [
    {
      command: 'vloc upload list --status ready --purpose source_video',
      explains: 'videos that a job can use now',
    },
    {
      command: 'vloc upload list --all --fields id,file_name,size_bytes -o plain',
      explains: 'three tab-separated columns, for other programs',
    },
  ],
  prints: UPLOAD_LIST,
  run: async (context, _operands, options) => {
    const request = readListRequest('listUploads', options, context.io.now());
    const filters = request.filters as UploadFilters; // the options come from the parameters of the same operation
    return withUploads(context, async (uploads) => {
      const list = await readPages(request, (page) =>
        uploads.list({ ...filters, ...page }, { signal: context.signal }),
      );
      await printList(context, UPLOADS, list);
    });
  },
});

export const uploadCreate: Command = defineCommand({
  options: {
    purpose: choiceOption(UPLOAD_PURPOSES, 'purpose of the upload', { required: true }),
    fileName: textOption('name', 'name of the file, without a folder', { required: true }),
    contentType: textOption('type', 'media type, such as video/mp4', { required: true }),
    sizeBytes: numberOption('n', 'exact size in bytes', { required: true }),
    clientReference: textOption('text', 'your own reference, 1 to 128 characters'),
  },
  fields: uploadFields,
  examples: [
    {
      command:
        'vloc upload create --purpose source_video --file-name talk.mp4 --content-type video/mp4 --size-bytes 1048576 -o json',
      explains: 'upload_request contains the address and headers for the bytes',
    },
  ],
  notes: [
    'For files on other machines. Send the bytes with the method, the address and all headers of upload_request, then run ' +
      '`vloc upload complete ID --etag ETAG`. For files on this machine, `vloc upload FILE` does all of this.',
    'The address of upload_request is as good as a password for this one upload; it expires.',
  ],
  prints: UPLOAD_RECORD,
  run: async (context, _operands, options) => {
    const request = {
      purpose: options.purpose,
      file_name: options.fileName,
      content_type: options.contentType,
      size_bytes: options.sizeBytes,
      ...(options.clientReference === undefined ? {} : { client_reference: options.clientReference }),
    };
    const checked = checkUploadRequest(request);
    if (!checked.ok) {
      throw usageFailure(
        'NOT_USABLE',
        'the upload cannot be reserved like this; nothing was sent',
        undefined,
        { errors: checked.errors.map(({ pointer, detail }) => ({ pointer: optionOf(pointer), detail })) },
      );
    }
    return withUploads(context, async (uploads) => {
      await printRecord(context, UPLOADS, await uploads.create(checked.value, { signal: context.signal }));
    });
  },
});

/** `/file_name` of the request is `--file-name` here. */
function optionOf(pointer: string): string {
  const name = pointer.slice(1).replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return flagName(name);
}

export const uploadComplete: Command = defineCommand({
  operands: { name: 'id', count: 'one', help: 'id of the upload' },
  options: {
    etag: textOption('etag', 'ETag from the response to the PUT'),
  },
  fields: uploadFields,
  examples: [
    {
      command: 'vloc upload complete upl_01k9x2m4n6p8q0r2s4t6v8w0y2 --etag 9bb58f26192e4ba00f01e2e7b136bbd8',
      explains: 'starts its validation; the quotes of the ETag may be omitted',
    },
  ],
  notes: [
    '`vloc upload FILE` does this automatically. `vloc upload get ID` shows whether the upload is ready.',
  ],
  prints: UPLOAD_RECORD,
  run: async (context, operands, { etag }) => {
    const [id = ''] = operands;
    if (etag === undefined || etag === '') {
      throw usageFailure(
        'ETAG_MISSING',
        '--etag is missing: the service compares it with what it received',
        'Take it from the answer to the PUT, for example with curl --dump-header.',
      );
    }
    return withUploads(context, async (uploads) => {
      const completed = await uploads.complete(id, etag, { signal: context.signal });
      await printRecord(context, UPLOADS, completed);
    });
  },
});
