import { type Command, defineCommand } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import type { InstallPlan } from '../engines/install.ts';
import { Failure } from '../errors/failure.ts';

export const enginesInstall: Command = defineCommand({
  options: {
    yes: { type: 'flag', short: '-y', help: 'do not ask before installing' },
  },
  examples: [
    { command: 'vloc engines install', explains: 'show the packages, ask, then install them' },
    { command: 'vloc engines install --yes', explains: 'without a question, for scripts' },
  ],
  notes: ["The system's own package manager is used: apt-get, dnf, pacman, brew or winget."],
  run: async (context, _operands, options) => {
    const plan = await makePlan(context);
    for (const { engine, reason } of plan.impossible) context.terminal.warn(`${engine}: ${reason}`);
    if (plan.commands.length > 0) await install(context, plan, options.yes);
    const missing = await missingEngines(context);
    if (missing.length > 0) {
      throw new Failure({
        category: 'configuration',
        code: 'ENGINE_MISSING',
        message: `still missing: ${missing.join(', ')}`,
        advice: 'Install them by hand, then look with `vloc engines list`.',
      });
    }
    context.terminal.note('All engines are installed.');
    if (context.output === 'json') context.print(JSON.stringify({ installed: plan.engines, missing }));
    return 0;
  },
});

async function makePlan(context: Context): Promise<InstallPlan> {
  const [{ planInstall }, system, { createPrograms }] = await Promise.all([
    import('../engines/install.ts'),
    import('../engines/install.ts'),
    import('../engines/programs.ts'),
  ]);
  const programs = createPrograms(context.io.env.PATH ?? '');
  return planInstall({
    system: system.detectSystem(context.io.platform, system.readOsRelease()),
    privilege: system.detectPrivilege(programs.locate('sudo')),
    missing: await missingEngines(context),
    freshLists: system.hasFreshLists(context.io.now()),
  });
}

async function missingEngines(context: Context): Promise<string[]> {
  const { createEngines } = await import('../engines/index.ts');
  const { missing } = await createEngines({ searchPath: context.io.env.PATH ?? '' }).capabilities();
  return [...new Set(missing.map(({ engine }) => engine))];
}

async function install(context: Context, plan: InstallPlan, agreed: boolean): Promise<void> {
  const { runInstall, showCommand } = await import('../engines/install.ts');
  const { terminal } = context;
  const commands = plan.commands.map(showCommand);
  terminal.note(`To be installed: ${plan.engines.join(', ')}`);
  for (const command of commands) terminal.note(`  ${command}`);
  const byHand = (message: string, code: string) =>
    new Failure({
      category: 'configuration',
      code,
      message,
      advice: `Run this:\n    ${commands.join('\n    ')}`,
    });
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
