import * as v from 'valibot';
import { isInstalled } from '../../engines/capabilities.ts';
import { ENGINES } from '../../engines/catalog.ts';
import type { Capabilities } from '../../engines/engine.ts';
import { createEngines } from '../../engines/index.ts';
import { createPrograms } from '../../media/programs/programs.ts';
import { languageName } from '../../protocol/language-tag.ts';
import { type Command, defineCommand } from '../context/command.ts';
import type { Context, TableHead } from '../context/context.ts';
import { locateEngines, readEngines } from '../context/engines.ts';
import type { Presentation } from '../context/output/presentation.ts';
import { lineOf, NullableText } from '../context/output-schemas.ts';
import { writeCommand } from '../context/printed-command.ts';
import { ENGINE, type EngineState, examineEngine, listUsed } from './engines.ts';

/** A built-in engine, or a program that every step needs. */
interface InstalledEngine {
  readonly name: string;
  readonly steps: readonly string[];
  readonly purpose: string;
  readonly installed: boolean;
}

interface Listed {
  readonly engines: readonly InstalledEngine[];
  readonly used: readonly EngineState[];
  readonly capabilities: Capabilities;
  /** The file that configures the engines; null if there is none. */
  readonly file: string | null;
}

const INSTALLED = {
  name: v.string(),
  steps: v.array(v.string()),
  purpose: v.string(),
  installed: v.boolean(),
};

const USED = { ...ENGINE.entries, languages: v.array(v.string()), problem: NullableText, fix: NullableText };

const CAPABILITIES = {
  missing: v.array(v.object({ step: v.string(), engine: v.string(), reason: v.optional(v.string()) })),
  recognize: v.array(v.string()),
  translate: v.array(v.object({ from: v.string(), to: v.string(), through: v.exactOptional(v.string()) })),
  speak: v.array(v.object({ language: v.string(), voices: v.array(v.string()) })),
};

const ENGINES_IN_USE = {
  json: [
    v.object({
      engines: v.array(v.object(INSTALLED)),
      file: NullableText,
      used: v.array(v.object(USED)),
      capabilities: v.object(CAPABILITIES),
    }),
  ],
  ndjson: [
    lineOf('engine', INSTALLED),
    lineOf('used_engine', USED),
    lineOf('summary', { file: NullableText, ...CAPABILITIES }),
  ],
};

export const enginesList: Command = defineCommand({
  options: {},
  examples: [
    { command: 'vloc engines list', explains: 'installed engines, engines in use and their languages' },
    {
      command: 'vloc engines list --output json',
      explains: 'the same with every voice and direction, for programs',
    },
  ],
  notes: [
    'For each step, the first engine that supports the language is used. REACHABLE: its server accepts connections and answers, or its model or program exists.',
  ],
  prints: ENGINES_IN_USE,
  run: async (context) => {
    const config = await readEngines(context);
    const searchPath = context.io.env.PATH ?? '';
    const programs = createPrograms(searchPath);
    const capabilities = await createEngines({ searchPath }).capabilities();
    const engines = ENGINES.map((engine) => ({
      name: engine.name,
      steps: engine.steps,
      purpose: engine.purpose,
      // A program without its data cannot be used.
      installed:
        isInstalled(programs, engine) && capabilities.missing.every((each) => each.engine !== engine.name),
    }));
    const used = listUsed(config);
    const states = await Promise.all(used.map((each) => examineEngine(each, context)));
    const file = config === null ? null : locateEngines(context).path;
    await context.present.show(presentEngines({ engines, used: states, capabilities, file }, context));
    return 0;
  },
});

function presentEngines(
  { engines, used, capabilities, file }: Listed,
  context: Pick<Context, 'io' | 'service'>,
): Presentation {
  const installed = engines.filter((engine) => engine.installed);
  const missing = ENGINES.filter(({ name }) => !installed.some((engine) => engine.name === name));
  const languages = missing.flatMap(({ onlyFor }) => (onlyFor === undefined ? [] : ['--to', onlyFor]));
  return {
    document: () => ({ engines, file, used, capabilities }),
    events: () => [
      ...engines.map((engine) => ({ type: 'engine', ...engine })),
      ...used.map((each) => ({ type: 'used_engine', ...each })),
      { type: 'summary', file, ...capabilities },
    ],
    rows: () => engines.map((engine) => [`${engine.name} ${stateOf(engine)}`]),
    ids: () => installed.map(({ name }) => name),
    pages: () => [
      { head: ['ENGINE', 'STATE', 'STEPS', { title: 'WHAT FOR', wraps: 20 }], rows: engines.map(row) },
      '',
      { head: USED_HEAD, rows: used.map(usedRow) },
    ],
    notes: () => [
      ...(installed.length === engines.length
        ? []
        : [
            '',
            `Install what is missing with: ${writeCommand(context, ['engines', 'install', ...languages])}`,
          ]),
      ...(file === null
        ? ['', `Use better engines: ${writeCommand(context, ['engines', 'add', '--help'])}`]
        : []),
    ],
  };
}

const USED_HEAD: readonly TableHead[] = [
  'USED FOR',
  '#',
  'ENGINE',
  { title: 'LANGUAGES', wraps: 20 },
  'REACHABLE',
];

const stateOf = ({ installed }: InstalledEngine) => (installed ? 'installed' : 'missing');

function row(engine: InstalledEngine): string[] {
  return [engine.name, stateOf(engine), engine.steps.join(', '), engine.purpose];
}

function usedRow({ step, position, engine, languages, problem }: EngineState): string[] {
  return [step, String(position), engine, shorten(languages), problem === null ? 'yes' : `no: ${problem}`];
}

/** More do not fit beside the other columns. */
const SHOWN_LANGUAGES = 5;

/** Names of languages; after the first ones, how many more there are. */
function shorten(languages: readonly string[]): string {
  if (languages.length === 0) return '-';
  const pairs = languages.map((language) => language.split(/ to | through /));
  const single = [...new Set(pairs.flat())];
  // A language model translates between all its languages: some hundred pairs.
  const isEachToEach = single.length > 2 && languages.length === single.length * (single.length - 1);
  const names = isEachToEach
    ? single.map(languageName)
    : languages.map((language) => language.replace(/\S+(?= to| through|$)/g, languageName));
  const more = names.length - SHOWN_LANGUAGES;
  const shown = names.slice(0, SHOWN_LANGUAGES).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return isEachToEach ? `${shown}, each to each` : shown;
}
