import { type Command, defineCommand } from '../context/command.ts';
import { connect } from '../context/connection.ts';
import { printRecord } from '../context/records.ts';
import { Failure } from '../errors/failure.ts';
import { UPLOADS, uploadFields } from '../workflow/uploads/upload-records.ts';

export const uploadComplete: Command = defineCommand({
  operands: { name: 'id', count: 'one', help: 'id of the upload' },
  options: {
    etag: { type: 'text', value: 'etag', help: 'the ETag that storage answered the PUT with' },
  },
  fields: uploadFields,
  examples: [
    {
      command: 'vloc upload complete upl_01k9x2m4n6p8q0r2s4t6v8w0y2 --etag 9bb58f26192e4ba00f01e2e7b136bbd8',
      explains: 'starts its validation; the quotes of the ETag may be omitted',
    },
  ],
  notes: ['`vloc upload FILE` does this automatically. See whether it is ready: `vloc upload get ID`.'],
  run: async (context, operands, { etag }) => {
    const [id = ''] = operands;
    if (etag === undefined || etag === '') {
      throw new Failure({
        category: 'usage',
        code: 'ETAG_MISSING',
        message: '--etag is missing: the service compares it with what it received',
        advice: 'Take it from the answer to the PUT, for example with curl --dump-header.',
      });
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
