import { type Command, defineCommand } from '../context/command.ts';
import { connect } from '../context/connection.ts';
import { printList, printRecord } from '../context/records.ts';
import { collect, readReferences } from '../context/references.ts';
import { summarizeFailures } from '../workflow/jobs/job-outcomes.ts';
import { UPLOADS, uploadFields } from '../workflow/uploads/upload-records.ts';

export const uploadGet: Command = defineCommand({
  operands: { name: 'id', count: 'many', help: 'ids of uploads, or - for ids on stdin' },
  options: {},
  fields: uploadFields,
  examples: [
    { command: 'vloc upload get upl_01k9x2m4n6p8q0r2s4t6v8w0y2', explains: 'its state and its media facts' },
    {
      command: 'vloc upload get upl_01k9x2m4n6p8q0r2s4t6v8w0y2 --jq .status',
      explains: 'one word for a script',
    },
  ],
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
      const failure = summarizeFailures(outcomes, 'uploads could not be read', 'Check their ids.');
      if (failure !== null) throw failure;
      return 0;
    } finally {
      await connection.close();
    }
  },
});
