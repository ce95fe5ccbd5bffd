/** Commands that read uploads: `upload list` and `upload get`. */
import type { UploadFilters } from '../../client/index.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { connect } from '../context/connection.ts';
import { listOptions, readListRequest, readPages } from '../context/lists.ts';
import { printList, printRecord } from '../context/records.ts';
import { collect, readReferences } from '../context/references.ts';
import { outcomesFailure } from '../jobs/job-outcomes.ts';
import { UPLOADS, uploadFields } from './upload-records.ts';

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
  schemas: async () => (await import('../account/outputs.ts')).UPLOAD_RECORDS,
  run: async (context, operands) => {
    const { ids, single } = await readReferences(operands, context.io);
    const connection = await connect(context);
    try {
      const { uploads } = connection.client;
      const { found, outcomes } = await collect(context, ids, (id) =>
        uploads.get(id, { signal: context.signal }),
      );
      const [only] = found;
      if (!single) await printList(context, UPLOADS, { data: found, has_more: false, next_cursor: null });
      else if (only !== undefined) await printRecord(context, UPLOADS, only);
      const failure = outcomesFailure(outcomes, 'uploads could not be read', 'Check their ids.');
      if (failure !== null) throw failure;
      return 0;
    } finally {
      await connection.close();
    }
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
  schemas: async () => (await import('../account/outputs.ts')).UPLOAD_LIST,
  run: async (context, _operands, options) => {
    const request = readListRequest('listUploads', options, context.io.now());
    const filters = request.filters as UploadFilters; // the options come from the parameters of the same operation
    const connection = await connect(context);
    try {
      const { uploads } = connection.client;
      const list = await readPages(request, (page) =>
        uploads.list({ ...filters, ...page }, { signal: context.signal }),
      );
      await printList(context, UPLOADS, list);
      return 0;
    } finally {
      await connection.close();
    }
  },
});
