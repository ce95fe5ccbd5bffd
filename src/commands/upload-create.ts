import { flagName } from '../batch/plan/field-flags.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { connect } from '../context/connection.ts';
import { printRecord } from '../context/records.ts';
import { Failure } from '../errors/failure.ts';
import { checkUploadRequest } from '../protocol/requests.ts';
import { UPLOAD_PURPOSES } from '../protocol/states.ts';
import { UPLOADS, uploadFields } from '../workflow/uploads/upload-records.ts';

export const uploadCreate: Command = defineCommand({
  options: {
    purpose: { type: 'choice', choices: UPLOAD_PURPOSES, help: 'purpose of the upload', required: true },
    fileName: { type: 'text', value: 'name', help: 'name of the file, without a folder', required: true },
    contentType: { type: 'text', value: 'type', help: 'media type, for example video/mp4', required: true },
    sizeBytes: { type: 'number', value: 'n', help: 'how many bytes will come, exactly', required: true },
    clientReference: { type: 'text', value: 'text', help: 'your own reference, 1 to 128 characters' },
  },
  fields: uploadFields,
  examples: [
    {
      command:
        'vloc upload create --purpose source_video --file-name talk.mp4 --content-type video/mp4 --size-bytes 1048576 -o json',
      explains: 'where the bytes go, and with which headers: upload_request',
    },
  ],
  notes: [
    'For bytes that are on another machine. Send them with the method, the address and all the headers of upload_request, ' +
      'then run `vloc upload complete ID --etag ETAG`. For a file on this one, `vloc upload FILE` does all of it.',
    'The address of upload_request is as good as a password for this one upload; it expires.',
  ],
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
      throw new Failure({
        category: 'usage',
        code: 'NOT_USABLE',
        message: 'the upload cannot be reserved like this; nothing was sent',
        errors: checked.errors.map(({ pointer, detail }) => ({ pointer: optionOf(pointer), detail })),
      });
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
