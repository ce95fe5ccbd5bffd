import * as v from 'valibot';
import { isInstalled } from '../../engines/capabilities.ts';
import { ENGINES } from '../../engines/catalog.ts';
import type { Capabilities } from '../../engines/engine.ts';
import { createEngines } from '../../engines/index.ts';
import { createPrograms } from '../../media/programs/programs.ts';
import { languageName } from '../../protocol/language-tag.ts';
import { type Command, defineCommand } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { locateEngines, readEngines } from '../context/engines.ts';
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
    await printEngines(context, {
      engines,
      used: await Promise.all(used.map((each) => examineEngine(each, context))),
      capabilities,
      file: config === null ? null : locateEngines(context).path,
    });
    return 0;
  },
});

async function printEngines(context: Context, { engines, used, capabilities, file }: Listed): Promise<void> {
  const { terminal, print } = context;
  switch (context.output) {
    case 'json':
      print(JSON.stringify({ engines, file, used, capabilities }, null, 2));
      return;
    case 'ndjson':
      for (const engine of engines) print(JSON.stringify({ type: 'engine', ...engine }));
      for (const each of used) print(JSON.stringify({ type: 'used_engine', ...each }));
      print(JSON.stringify({ type: 'summary', file, ...capabilities }));
      return;
    case 'plain':
    case 'id':
      for (const engine of engines) {
        if (context.output === 'plain' || engine.installed)
          print(
            `${engine.name}${context.output === 'id' ? '' : engine.installed ? ' installed' : ' missing'}`,
          );
      }
      return;
    case 'table':
      print(await terminal.table(['ENGINE', 'STATE', 'STEPS', 'WHAT FOR'], engines.map(row)));
      print('');
      print(
        await terminal.table(
          ['USED FOR', '#', 'ENGINE', { title: 'LANGUAGES', wraps: 20 }, 'REACHABLE'],
          used.map(usedRow),
        ),
      );
  }
  if (engines.some((engine) => !engine.installed)) {
    terminal.note('');
    terminal.note(`Install what is missing with: ${writeCommand(context, ['engines', 'install'])}`);
  }
  if (file === null) {
    terminal.note('');
    terminal.note(`Use better engines: ${writeCommand(context, ['engines', 'add', '--help'])}`);
  }
}

function row({ name, installed, steps, purpose }: InstalledEngine): string[] {
  return [name, installed ? 'installed' : 'missing', steps.join(', '), purpose];
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
