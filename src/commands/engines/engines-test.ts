import { configurationFailure } from '../../base/failure.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { readEngines } from '../context/engines.ts';
import { formatDuration } from '../context/format.ts';
import { describeList } from '../context/output-schemas.ts';
import { printList } from '../context/records.ts';
import { chooseUsed, listUsed, parseStep, trialLimitMs } from './engines.ts';
import { runTrial, TRIAL, TRIAL_FIELDS, TRIALS_FORM } from './trials.ts';

const ENGINE_TRIALS = describeList(TRIAL);

export const enginesTest: Command = defineCommand({
  operands: {
    name: 'step',
    count: 'any',
    parts: {
      '[step]': 'test only this step (default: all steps)',
      '[engine]': 'test only the engine with this name or position',
    },
  },
  options: {},
  examples: [
    {
      command: 'vloc engines test',
      explains: 'run a short sample through each engine and compare the results',
    },
    { command: 'vloc engines test recognize', explains: 'test only the engines that recognize speech' },
    {
      command: 'vloc engines test speak kokoro --output json',
      explains: 'test one engine, with output for a program',
    },
  ],
  notes: [
    'Recognizers hear seven seconds of English. Translators translate forty English sentences, compared by chrF (0 to 100) with translations into es, fr, de and pt; three into other languages. Voices are heard by the first recognizer of their language, which also makes mistakes. TIME is for each second of sound, and includes the loading of the model. MEMORY is what its process took at most. The exit code is 4 if an engine fails.',
  ],
  fields: () => TRIAL_FIELDS,
  prints: ENGINE_TRIALS,
  run: async (context, [word, ...names]) => {
    const used = listUsed(await readEngines(context));
    const step = word === undefined ? null : parseStep(word);
    const ofStep = used.filter((each) => step === null || each.step === step);
    const chosen = step === null || names.length === 0 ? ofStep : chooseUsed(used, step, names.join(' '));
    const recognizers = used.filter((each) => each.step === 'recognize');
    const progress = await context.terminal.progress();
    const limit = `at most ${formatDuration(trialLimitMs(context))}`;
    const rows = [];
    try {
      // One after the other: a second one would slow the first.
      for (const each of chosen) {
        progress.show(each.step, { phase: each.name, fraction: null, detail: limit });
        rows.push(await runTrial(each, context, recognizers));
      }
    } finally {
      progress.close();
    }
    await printList(context, TRIALS_FORM, { data: rows });
    const failed = rows.filter(({ result }) => result === 'failed');
    if (failed.length === 0) return 0;
    const failedNames = failed.map(({ step: of, engine }) => `${engine} (${of})`).join(', ');
    throw configurationFailure(
      'ENGINE_TEST_FAILED',
      `${failed.length} of ${rows.length} engines failed: ${failedNames}`,
      'The table says why. Correct the entry, or remove it with `vloc engines remove`.',
    );
  },
});
