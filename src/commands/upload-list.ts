import type { UploadFilters } from '../client/index.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { connect } from '../context/connection.ts';
import { listOptions, readListRequest, readPages } from '../context/lists.ts';
import { printList } from '../context/records.ts';
import { UPLOADS, uploadFields } from '../workflow/uploads/upload-records.ts';

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
