import { formatBytes } from '../../base/amounts.ts';
import { sizeOf } from '../../engines/models/catalog.ts';
import { inspectModel, removeModel } from '../../engines/models/store.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import { printRecord } from '../context/records.ts';
import { listModels, locateModels } from '../engines/known-models.ts';
import { changeEngines, removeEntries } from './managed-entries.ts';
import { describeModel, findModel, LIST_FORM, lockModels, MODEL_FIELDS, MODEL_RECORD } from './models.ts';

export const modelsRemove: Command = defineCommand({
  operands: {
    name: 'model',
    count: 'one',
    help: 'name of an installed model, as `vloc models list` shows it',
  },
  options: {},
  examples: [
    { command: 'vloc models remove whisper-small', explains: 'its files, and its entry in engines.json' },
  ],
  fields: () => MODEL_FIELDS,
  prints: MODEL_RECORD,
  run: async (context, [name = '']) => {
    const folder = locateModels(context.io);
    const model = findModel(await listModels(context.io), name);
    const lock = await lockModels(folder);
    try {
      const { state } = await inspectModel(folder, model);
      // First, so that nothing uses a model that goes.
      await changeEngines(context, (file) => removeEntries(file, model.id));
      await removeModel(folder, model);
      if (state === 'absent') {
        throw invalidCallFailure(`${name} is not installed`, 'See `vloc models list`.');
      }
      await printRecord(context, LIST_FORM, describeModel(model, 'absent'));
      context.terminal.note(`Removed ${name} (${formatBytes(sizeOf(model))}).`);
      return 0;
    } finally {
      await lock.release();
    }
  },
});
