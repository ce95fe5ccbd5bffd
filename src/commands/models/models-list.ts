import { flagOption } from '../../base/option.ts';
import { inspectModel } from '../../engines/models/store.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { printList } from '../context/records.ts';
import { findPlace, listModels, locateModels } from '../engines/known-models.ts';
import { describeModel, LICENCES_FORM, LIST_FORM, MODEL_FIELDS, MODELS } from './models.ts';

export const modelsList: Command = defineCommand({
  options: { licences: flagOption('show licences and the attribution that they demand') },
  examples: [
    { command: 'vloc models list', explains: 'models that are installed or can be' },
    {
      command: 'vloc models list --licences',
      explains: 'what to say about each where its results are published',
    },
  ],
  notes: [
    'A model is complete if all its files have their size; `vloc models install` checks their SHA-256.',
  ],
  fields: () => MODEL_FIELDS,
  prints: MODELS,
  run: async (context, _operands, { licences }) => {
    const folder = locateModels(context.io);
    const models = await listModels(context.io);
    const rows = await Promise.all(
      models.map(async (model) => {
        const { state } = await inspectModel(folder, model);
        return describeModel(model, state, state === 'absent' ? null : await findPlace(model, context.io));
      }),
    );
    const form = licences ? LICENCES_FORM : LIST_FORM;
    await printList(context, form, { data: rows });
    return 0;
  },
});
