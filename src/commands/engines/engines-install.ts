import { tmpdir } from 'node:os';
import * as v from 'valibot';
import { configurationFailure, type Failure, usageFailure } from '../../base/failure.ts';
import { flagOption, listOption } from '../../base/option.ts';
import { isInstalled } from '../../engines/capabilities.ts';
import { ENGINES, type OperatingSystem, USUAL_PAIRS } from '../../engines/catalog.ts';
import type { Capabilities } from '../../engines/engine.ts';
import { createEngines } from '../../engines/index.ts';
import {
  detectPrivilege,
  detectSystem,
  findFontPackages,
  findPairPackage,
  findRoutePackages,
  hasFreshLists,
  type InstallPlan,
  isPair,
  listNearPairs,
  listPairPackages,
  planInstall,
  readOsRelease,
  runInstall,
  showCommand,
} from '../../engines/install.ts';
import { hasFont } from '../../media/export/fonts.ts';
import { createPrograms, type Programs } from '../../media/programs/programs.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import { findPair, sameLanguage } from '../../protocol/languages.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { JSON_ONLY, nothing } from '../context/output/presentation.ts';
import { suggestModels } from './suggest-models.ts';

const INSTALLED_ENGINES = {
  json: [v.object({ installed: v.array(v.string()), missing: v.array(v.string()) })],
};

export const enginesInstall: Command = defineCommand({
  options: {
    pair: listOption('pairs', 'additional Apertium language pairs, such as eng-glg; on Debian and Ubuntu'),
    to: listOption(
      'languages',
      'pairs that translate English to these languages, such as pt,fr, if need be through Spanish or Catalan; for en, a clearer voice',
    ),
    font: listOption(
      'languages',
      'fonts for burned-in subtitles in these languages, such as ja; up to 57 MB',
    ),
    yes: flagOption('do not ask before installing', { short: '-y' }),
  },
  examples: [
    { command: 'vloc engines install', explains: 'show the packages, ask, then install them' },
    { command: 'vloc engines install --yes', explains: 'without a question, for scripts' },
    { command: 'vloc engines install --pair eng-glg', explains: 'to translate between English and Galician' },
    { command: 'vloc engines install --to pt,fr', explains: 'to translate English to Portuguese and French' },
    { command: 'vloc engines install --font ja', explains: 'to burn in Japanese subtitles' },
  ],
  notes: ['Uses the package manager of the system: apt-get, dnf, pacman, brew or winget.'],
  prints: INSTALLED_ENGINES,
  run: async (context, _operands, options) => {
    requireLanguages([...options.font, ...options.to]);
    const before = await detect(context);
    const plan = await makePlan(context, before, options);
    for (const { engine, reason } of plan.impossible) context.terminal.warn(`${engine}: ${reason}`);
    if (plan.commands.length > 0) await install(context, plan, options.yes);
    const after = plan.commands.length > 0 ? await detect(context) : before;
    const missing = [
      ...listMissing(after, wantedPairs(context, after, options.pair)),
      ...listMissingTargets(after, options.to).map((language) => `a translation to ${language}`),
      ...(await listMissingFonts(context, options.font)).map((language) => `a font for ${language}`),
    ];
    if (missing.length > 0) {
      throw configurationFailure(
        'ENGINE_MISSING',
        `still missing: ${missing.join(', ')}`,
        'Install them by hand, then check with `vloc engines list`.',
      );
    }
    context.terminal.note('All engines are installed.');
    await noteModels(context, options.to);
    const document = () => ({ installed: plan.engines, missing });
    await context.present.show({ ...JSON_ONLY, document, isLine: true, events: nothing });
    return 0;
  },
});

/** Says which open models can be used instead of the built-in engines. */
async function noteModels(context: Context, to: readonly string[]): Promise<void> {
  const models = await suggestModels({ from: null, to }, ['recognize', 'translate', 'speak'], context);
  if (models !== null) context.terminal.note(`To use open models before them, ${models}`);
}

/** The built-in engines and their languages. */
async function detect(context: Context): Promise<Capabilities> {
  return createEngines({ searchPath: context.io.env.PATH ?? '' }).capabilities();
}

function requireLanguages(languages: readonly string[]): void {
  const wrong = languages.find((language) => canonicalLanguage(language) === null);
  if (wrong === undefined) return;
  throw invalidCallFailure(`"${wrong}" is not a language`, 'Write language tags, such as ja or zh-Hant.');
}

/** The languages that no font can show. None can if ffmpeg is missing. */
async function listMissingFonts(context: Context, languages: readonly string[]): Promise<readonly string[]> {
  if (languages.length === 0) return [];
  const programs = createPrograms(context.io.env.PATH ?? '');
  const run = { signal: context.signal, folder: tmpdir() };
  const found = await Promise.all(languages.map((language) => hasFont(programs, language, run)));
  return languages.filter((_, position) => found[position] !== true);
}

/** The missing engines, and the pairs in whose languages nothing is translated. */
function listMissing({ missing, translate }: Capabilities, pairs: readonly string[]): readonly string[] {
  const isThere = (pair: string) => {
    const [one = '', other = ''] = pair.split('-');
    return translate.some(
      ({ from, to }) =>
        (sameLanguage(from, one) && sameLanguage(to, other)) ||
        (sameLanguage(from, other) && sameLanguage(to, one)),
    );
  };
  return [...new Set(missing.map(({ engine }) => engine)), ...pairs.filter((pair) => !isThere(pair))];
}

/** The languages to which nothing translates English. */
function listMissingTargets({ translate }: Capabilities, targets: readonly string[]): readonly string[] {
  return targets.filter(
    (to) => !sameLanguage(to, 'en') && findPair(translate, { from: 'en', to }) === undefined,
  );
}

/** The missing engines that are only for one of the languages. */
function listMissingFor(languages: readonly string[], programs: Programs): readonly string[] {
  return ENGINES.filter(
    (engine) =>
      languages.some((language) => sameLanguage(language, engine.onlyFor ?? '')) &&
      !isInstalled(programs, engine),
  ).map(({ name }) => name);
}

/** The pairs that were asked for, and the usual ones where Apertium came without them. */
function wantedPairs(
  context: Context,
  { missing }: Capabilities,
  asked: readonly string[],
): readonly string[] {
  const isThere = missing.every(({ engine }) => engine !== 'apertium');
  return isThere && systemOf(context) === 'debian' ? [...new Set([...asked, ...USUAL_PAIRS])] : asked;
}

function systemOf({ io }: Context): OperatingSystem | null {
  return detectSystem(io.platform, readOsRelease());
}

async function makePlan(
  context: Context,
  capabilities: Capabilities,
  {
    pair: asked,
    to,
    font,
  }: { readonly pair: readonly string[]; readonly to: readonly string[]; readonly font: readonly string[] },
): Promise<InstallPlan> {
  const wrong = asked.find((pair) => !isPair(pair));
  if (wrong !== undefined) {
    throw invalidCallFailure(`"${wrong}" is not a pair of languages`, 'Write two codes, such as eng-glg.');
  }
  const pairs = wantedPairs(context, capabilities, asked);
  const programs = createPrograms(context.io.env.PATH ?? '');
  const missing = [...listMissing(capabilities, pairs), ...listMissingFor(to, programs)];
  const facts = {
    system: systemOf(context),
    privilege: await detectPrivilege(programs.locate('sudo')),
    missing,
    freshLists: hasFreshLists(context.io.now()),
  };
  const unshown = await listMissingFonts(context, font);
  const fonts = facts.system === null ? null : findFontPackages(unshown, facts.system);
  if (fonts === null && unshown.length > 0)
    context.terminal.warn(`no package of this system is known to have a font for ${unshown.join(', ')}`);
  const wanted = pairs.filter((pair) => missing.includes(pair));
  const targets = listMissingTargets(capabilities, to);
  if (wanted.length + targets.length === 0) return planInstall({ ...facts, extra: fonts ?? [] });
  if (facts.system !== 'debian') throw pairsElsewhereFailure([...wanted, ...targets]);
  const names = await listPairPackages(programs, { signal: context.signal, folder: tmpdir() });
  const packages = wanted.map((pair) => {
    const found = findPairPackage(pair, names);
    if (found === null) throw unknownPairFailure(pair, listNearPairs(pair, names));
    return found;
  });
  const routes = targets.flatMap((target) => {
    const found = findRoutePackages(target.split('-')[0] ?? target, names);
    if (found === null) throw unknownPairFailure(`en-${target}`, listNearPairs(`en-${target}`, names));
    return found;
  });
  return planInstall({ ...facts, extra: [...new Set([...packages, ...routes]), ...(fonts ?? [])] });
}

const OTHER_TRANSLATORS = 'Other translators can be used: see `vloc engines add --help`.';

function pairsElsewhereFailure(pairs: readonly string[]): Failure {
  return configurationFailure(
    'PAIR_NOT_PACKAGED',
    `pairs of languages of Apertium are packages of Debian and Ubuntu only: ${pairs.join(', ')}`,
    `Build the pair as https://wiki.apertium.org/wiki/Installation describes. ${OTHER_TRANSLATORS}`,
  );
}

function unknownPairFailure(pair: string, near: readonly string[]): Failure {
  const others = near.length === 0 ? '' : `Similar pairs: ${near.join(', ')}. `;
  return usageFailure(
    'PAIR_UNKNOWN',
    `no package of Apertium translates ${pair}`,
    `${others}${OTHER_TRANSLATORS}`,
  );
}

async function install(context: Context, plan: InstallPlan, agreed: boolean): Promise<void> {
  const { terminal } = context;
  const commands = plan.commands.map(showCommand);
  terminal.note(`To be installed: ${plan.engines.join(', ')}`);
  for (const command of commands) terminal.note(`  ${command}`);
  const byHand = (message: string, code: string) =>
    configurationFailure(code, message, `Run this:\n    ${commands.join('\n    ')}`);
  if (plan.asksPassword && context.io.stdin.isTTY !== true) {
    throw byHand(
      'installing needs a password, and there is no terminal to ask for it',
      'INSTALL_NEEDS_PASSWORD',
    );
  }
  if (!agreed && !(await terminal.confirm({ text: 'Install them now?', typed: 'shown', flag: '--yes' }))) {
    throw byHand('nothing was installed; --yes installs without a question', 'INSTALL_DECLINED');
  }
  const progress = await terminal.progress();
  const onLine = (line: string) => {
    progress.show('installing', { phase: plan.engines.join(', '), fraction: null, detail: line });
    terminal.detail(line);
  };
  try {
    await runInstall(plan, { onLine, signal: context.signal });
    progress.close();
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    throw byHand(
      `installing failed: ${error instanceof Error ? error.message : String(error)}`,
      'INSTALL_FAILED',
    );
  }
}
