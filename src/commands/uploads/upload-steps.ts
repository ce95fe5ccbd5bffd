/** The single steps of an upload: `upload create` and `upload complete`. */

import { usageFailure } from '../../base/failure.ts';
import { choiceOption, numberOption, textOption } from '../../base/option.ts';
import { flagName } from '../../batch/plan/field-flags.ts';
import { checkUploadRequest } from '../../protocol/requests.ts';
import { UPLOAD_PURPOSES } from '../../protocol/states.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { connect } from '../context/connection.ts';
import { printRecord } from '../context/records.ts';
import { UPLOADS, uploadFields } from './upload-records.ts';

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
  schemas: async () => (await import('../account/outputs.ts')).UPLOAD_RECORD,
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
    const connection = await connect(context);
    try {
      const { uploads } = connection.client;
      await printRecord(context, UPLOADS, await uploads.create(checked.value, { signal: context.signal }));
      return 0;
    } finally {
      await connection.close();
    }
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
  schemas: async () => (await import('../account/outputs.ts')).UPLOAD_RECORD,
  run: async (context, operands, { etag }) => {
    const [id = ''] = operands;
    if (etag === undefined || etag === '') {
      throw usageFailure(
        'ETAG_MISSING',
        '--etag is missing: the service compares it with what it received',
        'Take it from the answer to the PUT, for example with curl --dump-header.',
      );
    }
    const connection = await connect(context);
    try {
      const completed = await connection.client.uploads.complete(id, etag, { signal: context.signal });
      await printRecord(context, UPLOADS, completed);
      return 0;
    } finally {
      await connection.close();
    }
  },
});
