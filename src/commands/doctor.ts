import { tmpdir } from 'node:os';
import { versions } from 'node:process';
import { type Command, defineCommand } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { completeCommands } from '../context/printed-command.ts';
import type { Failure } from '../errors/failure.ts';
import { configFolder, stateFolder } from '../profiles/folders.ts';
import { proxySettings } from '../profiles/proxy-settings.ts';
import { findDoubt } from '../profiles/resolve.ts';
import { describeOrigin, type Settings } from '../profiles/settings.ts';
import { readSettings } from './doctor/configured.ts';
import { lookAtFolder } from './doctor/disk.ts';
import { createInspect, type Finding, type Inspect, LIMIT_MS } from './doctor/finding.ts';
import { clearLocks, judgeLocks, type LockFolders } from './doctor/locks.ts';
import { inspectEngines } from './doctor/media-engines.ts';
import { judgePrivacy } from './doctor/private.ts';
import { inspectWay } from './doctor/reach.ts';
import { failureOf, printFindings } from './doctor/report.ts';
import { judgeNode } from './doctor/runtime.ts';
import { judgeScreen } from './doctor/screen.ts';
import { askForCredits } from './doctor/service.ts';

export const doctor: Command = defineCommand({
  options: {
    clearLocks: { type: 'flag', help: 'remove locks and slots whose holder is dead, before the checks' },
  },
  examples: [
    { command: 'vloc doctor', explains: 'diagnose problems and show how to fix them' },
    { command: 'vloc doctor --output json', explains: 'the same facts for a report or a program' },
    { command: 'vloc doctor --output id', explains: 'the names of the checks that found something' },
  ],
  notes: [
    'One signed request reads the balance; nothing else is sent, and no secret is shown. Each check takes 5 seconds at most.',
    'Without --clear-locks nothing is changed; with it, no lock of a living process is removed, and it may take 15 seconds.',
    'Exit code 0: no check failed; 4: configuration, credentials or engines; 10: disk; 7: network. Warnings do not count.',
  ],
  run: async (context, _operands, options) => {
    // Beside the checks, which end after 5 seconds: only after a longer look is a holder on another machine dead.
    if (options.clearLocks) {
      const removed = await clearLocks(lockFolders(context));
      context.terminal.note(`Removed ${removed} stale ${removed === 1 ? 'lock' : 'locks'}.`);
    }
    const findings = await inspectAll(context, createInspect(context.signal, context.io.checkMs));
    await printFindings(
      context,
      findings.map(({ fix, ...finding }) =>
        fix === undefined ? finding : { ...finding, fix: completeCommands(fix, context) },
      ),
    );
    const failure = failureOf(findings);
    if (failure !== null) throw failure;
    return 0;
  },
});

function lockFolders({ io }: Context): LockFolders {
  const { env, platform, cwd } = io;
  return { state: stateFolder(env, platform), config: configFolder(env, platform), current: cwd };
}

/** All checks at once; the findings keep the order of reading. */
async function inspectAll(context: Context, inspect: Inspect): Promise<Finding[]> {
  const { io } = context;
  const warnings: string[] = [];
  const settings: { found: Settings | null } = { found: null };
  let doubt: Failure | null = null;
  const configuration = await inspect('configuration', 'configuration', async () => {
    settings.found = await readSettings(context, (text) => warnings.push(text));
    doubt = findDoubt(settings.found, io.env);
    return doubt === null ? describeSettings(settings.found) : describeDoubt(doubt);
  });
  const state = stateFolder(io.env, io.platform);
  const config = configFolder(io.env, io.platform);
  const folder = (name: string, path: string) => inspect(name, 'disk', () => lookAtFolder(path));
  const groups = await Promise.all(
    [
      [inspect('node', 'configuration', () => judgeNode(versions.node))],
      inspectService(context, inspect, doubt === null ? settings.found : null),
      [folder('state folder', state), folder('config folder', config)],
      [inspect('locks', 'disk', () => judgeLocks(lockFolders(context)))],
      [folder('temporary folder', tmpdir()), folder('current folder', io.cwd)],
      [inspect('privacy', 'configuration', () => judgePrivacy([state, config], warnings, io.platform))],
      inspectEngines(inspect, io.env.PATH ?? '', settings.found?.baseUrl.value == null),
      [inspect('terminal', 'configuration', () => judgeScreen(io))],
    ].map(async (group) => Promise.all(await group)),
  );
  return [configuration, ...groups.flat()];
}

function describeSettings({ baseUrl, profile }: Settings) {
  const from = describeOrigin(baseUrl.origin);
  const facts = { base_url: baseUrl.value, from, profile: profile?.value ?? null };
  const shown = baseUrl.value ?? 'the embedded service';
  return { grade: 'ok', message: `${shown} (${from})`, facts } as const;
}

/** On a build server the machine can be in order before a service is chosen; half a choice is a mistake. */
function describeDoubt({ facts: { code, message, advice = '' } }: Failure) {
  const grade = code === 'SERVICE_NOT_CHOSEN' ? 'warn' : 'fail';
  return { grade, message, fix: advice, facts: { code } } as const;
}

/** Without settings there is nothing to reach, and the finding on them says why. */
async function inspectService(
  context: Context,
  inspect: Inspect,
  settings: Settings | null,
): Promise<Finding[]> {
  if (settings === null) return [];
  const { value } = settings.baseUrl;
  const way = value === null ? [] : await inspectBaseUrl(context, inspect, value);
  // Who cannot get there learns nothing about credentials, and would wait for retries.
  if (way.some(({ grade, check }) => grade === 'fail' && check !== 'clock')) return way;
  const look = (signal: AbortSignal) => askForCredits(context, signal);
  return [...way, await inspect('credentials', 'configuration', look)];
}

async function inspectBaseUrl(context: Context, inspect: Inspect, baseUrl: string): Promise<Finding[]> {
  const { env, now, checkMs = LIMIT_MS } = context.io;
  const checked = await inspect('address', 'configuration', async () => {
    const { parseBaseUrl } = await import('../client/transport/base-url.ts');
    parseBaseUrl(baseUrl);
    proxySettings(env);
    return { grade: 'ok', message: baseUrl };
  });
  if (checked.grade === 'fail') return [checked];
  const url = new URL(baseUrl);
  return [checked, ...(await inspectWay(inspect, { url, proxy: proxySettings(env), now, limitMs: checkMs }))];
}
