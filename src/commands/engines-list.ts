import { type Command, defineCommand } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { writeCommand } from '../context/printed-command.ts';
import type { Capabilities } from '../engines/engine.ts';
import { languageName } from '../protocol/language-tag.ts';

interface EngineState {
  readonly name: string;
  readonly steps: readonly string[];
  readonly purpose: string;
  readonly installed: boolean;
}

export const enginesList: Command = defineCommand({
  options: {},
  examples: [
    { command: 'vloc engines list', explains: 'installed engines and their languages' },
    {
      command: 'vloc engines list --output json',
      explains: 'the same with every voice and direction, for programs',
    },
  ],
  run: async (context) => {
    const [{ ENGINES }, { createPrograms }, { isInstalled }, { createEngines }] = await Promise.all([
      import('../engines/catalog.ts'),
      import('../engines/programs.ts'),
      import('../engines/capabilities.ts'),
      import('../engines/index.ts'),
    ]);
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
    await printEngines(context, engines, capabilities);
    return 0;
  },
});

async function printEngines(
  context: Context,
  engines: readonly EngineState[],
  capabilities: Capabilities,
): Promise<void> {
  const { terminal, print } = context;
  switch (context.output) {
    case 'json':
      print(JSON.stringify({ engines, capabilities }, null, 2));
      return;
    case 'ndjson':
      for (const engine of engines) print(JSON.stringify({ type: 'engine', ...engine }));
      print(JSON.stringify({ type: 'summary', ...capabilities }));
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
      print(await terminal.table(['CAN', 'LANGUAGES'], abilities(capabilities)));
  }
  if (engines.some((engine) => !engine.installed))
    terminal.note(`\nInstall what is missing with: ${writeCommand(context, ['engines', 'install'])}`);
}

function row({ name, installed, steps, purpose }: EngineState): string[] {
  return [name, installed ? 'installed' : 'missing', steps.join(', '), purpose];
}

function abilities({ recognize, translate, speak }: Capabilities): string[][] {
  const bySource = Map.groupBy(translate, (direction) => direction.from);
  const directions = Array.from(
    bySource,
    ([from, all]) => `${languageName(from)} to ${all.map(({ to }) => languageName(to)).join(', ')}`,
  );
  return [
    ['recognize', recognize.map(languageName).join(', ') || 'nothing'],
    ...(directions.length === 0 ? [['translate', 'nothing']] : directions.map((text) => ['translate', text])),
    [
      'speak',
      speak.length === 0
        ? 'nothing'
        : `${speak.length} languages, ${speak.reduce((sum, each) => sum + each.voices.length, 0)} voices`,
    ],
  ];
}
