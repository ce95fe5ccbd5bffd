import { formatBytes } from '../../base/amounts.ts';
import { configurationFailure, usageFailure } from '../../base/failure.ts';
import { choiceOption, flagOption, listOption, type OptionValues, textOption } from '../../base/option.ts';
import { MODEL_STEPS, type Model, sizeOf } from '../../engines/models/catalog.ts';
import { chooseModels } from '../../engines/models/choose.ts';
import { inspectModel } from '../../engines/models/store.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { readEngines } from '../context/engines.ts';
import { printList } from '../context/records.ts';
import { listModels, locateModels, machineMemoryMib } from '../engines/known-models.ts';
import { downloadModels, planRuntime, useModels } from './install-models.ts';
import { listManaged } from './managed-entries.ts';
import { describeModel, findModel, lockModels, MODEL_FIELDS, MODELS, PLAN_FORM } from './models.ts';

const OPTIONS = {
  from: textOption('language', 'language that is spoken in your videos (default: en)'),
  to: listOption(
    'languages',
    'languages of the results, such as es,fr; without it, only models that recognize speech',
  ),
  size: choiceOption(
    ['small', 'large'],
    'large: also models that need more memory and time (default: small)',
    {
      default: 'small',
    },
  ),
  gpu: flagOption('install the part that runs translators on a graphics card (default: if one is found)'),
  noGpu: flagOption('install it without that part, or remove it'),
  yes: flagOption('do not ask before the download', { short: '-y' }),
  accept: listOption('licences', 'licences that you have read and accept, for models that ask for it'),
  source: textOption(
    'dir|url',
    'copies of the files instead of the hub, as MODEL/path below a folder or an address',
  ),
  dryRun: flagOption('only show what would be downloaded; with --output json, addresses and hashes too'),
};

export const modelsInstall: Command = defineCommand({
  operands: {
    name: 'model',
    count: 'any',
    help: 'models to install (default: chosen by languages and memory)',
  },
  options: OPTIONS,
  examples: [
    { command: 'vloc models install --to es', explains: 'models to localize English videos into Spanish' },
    {
      command: 'vloc models install --to es,de --size large',
      explains: 'also larger models',
    },
    { command: 'vloc models install whisper-small', explains: 'one model of `vloc models list`' },
    {
      command: 'vloc models install whisper-base --dry-run --output json --fields files',
      explains: 'addresses and hashes, to copy them to a machine without internet',
    },
    { command: 'vloc models install --to es --source /mnt/models', explains: 'from a copied folder' },
  ],
  notes: [
    'Downloads continue where they stopped. Each file is checked by its SHA-256, and each model with the sample of `vloc engines test`, before engines.json names it. Your own entries there stay first.',
  ],
  fields: () => MODEL_FIELDS,
  prints: MODELS,
  run: async (context, names, options) => {
    const folder = locateModels(context.io);
    const models = await choose(context, names, options);
    const rows = await Promise.all(
      models.map(async (model) => describeModel(model, (await inspectModel(folder, model)).state)),
    );
    await printList(context, PLAN_FORM, { data: rows });
    const due = models.filter((_, at) => rows[at]?.state !== 'complete');
    const managed = listManaged((await readEngines(context)) ?? {});
    const runtime = await planRuntime(folder, options, context);
    const untried = models.filter((model) => due.includes(model) || !managed.has(model.id));
    const usesRuntime = (model: Model) =>
      model.entry.type === 'llama' && managed.has(model.id) && !untried.includes(model);
    const changed = runtime.isDue ? (await listModels(context.io)).filter(usesRuntime) : [];
    if (options.dryRun) return 0;
    if (untried.length + changed.length === 0) {
      context.terminal.note('All of them are installed.');
      return 0;
    }
    await confirmDownload(context, due, folder, options.yes);
    const lock = await lockModels(folder);
    try {
      await downloadModels(due, folder, options.source, context);
      await useModels(untried, folder, { ...runtime, changed }, context);
    } finally {
      await lock.release();
    }
    return 0;
  },
});

type Options = OptionValues<typeof OPTIONS>;

/** @throws Failure for names, languages and licences that cannot be used, and if there is no model at all */
async function choose(
  context: Context,
  names: readonly string[],
  { from = 'en', to, size, accept }: Options,
): Promise<readonly Model[]> {
  const catalog = await listModels(context.io);
  if (names.length > 0) {
    const named = [...new Set(names)].map((name) => findModel(catalog, name));
    for (const model of named) requireAcceptance(model, accept);
    return named;
  }
  const wrong = [from, ...to].find((language) => canonicalLanguage(language) === null);
  if (wrong !== undefined) {
    throw invalidCallFailure(`"${wrong}" is not a language`, 'Write language tags, such as ja or zh-Hant.');
  }
  const offered = catalog.filter(({ licence }) => isAccepted(licence, accept));
  const wanted = { from, to, steps: MODEL_STEPS, size, memoryMib: machineMemoryMib() };
  const { chosen, unmet } = chooseModels(offered, wanted);
  const reasons = unmet.map(({ reason }) => reason);
  if (chosen.length === 0) {
    throw configurationFailure(
      'NO_MODEL',
      reasons.join('; '),
      'See `vloc models list`, or add an engine: `vloc engines add --help`.',
    );
  }
  for (const reason of reasons) context.terminal.warn(reason);
  return chosen;
}

function isAccepted({ accept }: Model['licence'], accepted: readonly string[]): boolean {
  return accept === undefined || accepted.includes(accept);
}

function requireAcceptance({ id, licence }: Model, accepted: readonly string[]): void {
  if (isAccepted(licence, accepted)) return;
  throw usageFailure(
    'LICENCE_NOT_ACCEPTED',
    `${id} has a licence of its own (${licence.spdx}), which you must accept by name`,
    `Read ${licence.url}, then add --accept ${licence.accept}.`,
  );
}

/** @throws Failure (`usage`) without a yes */
async function confirmDownload(
  { terminal }: Context,
  due: readonly Model[],
  folder: string,
  agreed: boolean,
): Promise<void> {
  if (due.length === 0 || agreed) return;
  const bytes = due.reduce((sum, model) => sum + sizeOf(model), 0);
  const text = `Download ${formatBytes(bytes)} to ${folder}?`;
  if (await terminal.confirm({ text, typed: 'shown', flag: '--yes' })) return;
  throw usageFailure('INSTALL_DECLINED', 'nothing was downloaded', '--yes installs without a question.');
}
