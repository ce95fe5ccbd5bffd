import type { EnginesConfig, EntryOf } from '../../engines/config.ts';
import { readEnginesFile, saveEnginesFile } from '../../engines/config-file.ts';
import type { BackendStep } from '../../media/work.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import { locateEngines } from '../context/engines.ts';
import { printRecord } from '../context/records.ts';
import {
  chooseUsed,
  ENGINE_FIELDS,
  ENGINE_RECORD,
  ENGINES_FORM,
  listUsed,
  parseStep,
  rowOf,
} from './engines.ts';

export const enginesRemove: Command = defineCommand({
  operands: {
    name: 'engine',
    count: 'many',
    parts: {
      '<step>': 'recognize, translate, speak or separate',
      '<engine>': 'name of the engine or its position, as shown by `vloc engines list`',
    },
  },
  options: {},
  examples: [
    { command: 'vloc engines remove recognize large-v3', explains: 'by a word of its name' },
    { command: 'vloc engines remove translate 2', explains: 'by its position' },
  ],
  notes: ['When the last engine of a step is removed, the built-in one is used again.'],
  fields: () => ENGINE_FIELDS,
  prints: ENGINE_RECORD,
  run: async (context, [word = '', ...names]) => {
    const step = parseStep(word);
    const location = locateEngines(context);
    const read = await readEnginesFile(location, context.terminal.warn);
    if (read?.written[step] === undefined) {
      throw invalidCallFailure(
        `no engine is configured to ${step}; the built-in one is used, which cannot be removed`,
        'See `vloc engines list`.',
      );
    }
    if (names.length === 0)
      throw invalidCallFailure('an engine is missing', 'Write its name or position after the step.');
    const used = listUsed(read.written);
    const [chosen, ...others] = chooseUsed(used, step, names.join(' '));
    if (chosen === undefined || others.length > 0) {
      const positions = [chosen, ...others].map((each) => each?.position).join(', ');
      throw invalidCallFailure(`several engines match: ${positions}`, 'Write the position of one.');
    }
    const list: readonly (EntryOf<BackendStep> | string)[] = read.written[step];
    await saveEnginesFile(
      location.path,
      withList(read.written, step, list.toSpliced(chosen.position - 1, 1)),
    );
    await printRecord(context, ENGINES_FORM, rowOf(chosen));
    context.terminal.note(`Removed from ${location.path}.`);
    return 0;
  },
});

/** Without engines of its own the step is omitted, so that the built-in one is used. */
function withList(
  file: EnginesConfig,
  step: BackendStep,
  list: readonly (EntryOf<BackendStep> | string)[],
): EnginesConfig {
  const { [step]: _before, ...others } = file;
  const isBuiltInOnly = list.every((entry) => typeof entry === 'string');
  return isBuiltInOnly ? others : ({ ...file, [step]: list } as EnginesConfig); // entries of the same step
}
