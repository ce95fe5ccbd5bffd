import { tmpdir } from 'node:os';
import { versions } from 'node:process';
import type { Failure } from '../../base/failure.ts';
import { flagOption } from '../../base/option.ts';
import { parseBaseUrl } from '../../client/transport/request.ts';
import { configFolder, proxySettings, stateFolder } from '../../profiles/environment.ts';
import { ambiguityFailure } from '../../profiles/resolve.ts';
import { describeOrigin, type Settings } from '../../profiles/settings.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { readSettings } from '../context/connection.ts';
import type { Context } from '../context/context.ts';
import { completeCommands } from '../context/printed-command.ts';
import {
  CHECK_LIMIT_MS,
  type CheckReport,
  checksFailure,
  createCheckRunner,
  FINDINGS,
  presentFindings,
  type RunCheck,
} from './findings.ts';
import {
  checkAccount,
  checkFolderWritable,
  checkLocks,
  checkNode,
  checkPermissions,
  checkTerminal,
  clearLocks,
  type LockFolders,
} from './machine.ts';
import { checkEngines } from './media-engines.ts';
import { checkConnection, checkCredentials } from './network.ts';

export const doctor: Command = defineCommand({
  options: {
    clearLocks: flagOption('remove locks of processes that have died, before the checks'),
  },
  examples: [
    { command: 'vloc doctor', explains: 'diagnose problems and show how to fix them' },
    { command: 'vloc doctor --output json', explains: 'the same findings for a report or a program' },
    { command: 'vloc doctor --output id', explains: 'only the names of the checks that found something' },
  ],
  notes: [
    'One signed request reads the balance; nothing else is sent, and no secret is shown. Each check takes at most 15 seconds.',
    'Without --clear-locks nothing is changed. With it, locks of running processes are kept, and it may take 15 seconds.',
    'Exit code 0: no check failed; 4: configuration, credentials or engines; 10: disk; 7: network. Warnings do not count.',
  ],
  prints: FINDINGS,
  run: async (context, _operands, options) => {
    // Not one of the checks, which take 15 seconds at most: a dead holder on another machine is recognized later.
    if (options.clearLocks) {
      const removed = await clearLocks(lockFolders(context));
      context.terminal.note(`Removed ${removed} stale ${removed === 1 ? 'lock' : 'locks'}.`);
    }
    const findings = await runChecks(context, createCheckRunner(context.signal, context.io.checkMs));
    const shown = findings.map(({ fix, ...finding }) =>
      fix === undefined ? finding : { ...finding, fix: completeCommands(fix, context) },
    );
    await context.present.show(presentFindings(shown));
    const failure = checksFailure(findings);
    if (failure !== null) throw failure;
    return 0;
  },
});

function lockFolders({ io }: Context): LockFolders {
  const { env, platform, cwd } = io;
  return { state: stateFolder(env, platform), config: configFolder(env, platform), current: cwd };
}

/** Runs all checks concurrently; the reports are in the order of display. */
async function runChecks(context: Context, runCheck: RunCheck): Promise<CheckReport[]> {
  const { io } = context;
  const warnings: string[] = [];
  const settings: { found: Settings | null } = { found: null };
  let doubt: Failure | null = null;
  const configuration = await runCheck('configuration', 'configuration', async () => {
    settings.found = await readSettings(context, (text) => warnings.push(text));
    doubt = ambiguityFailure(settings.found, io.env);
    return doubt === null ? describeSettings(settings.found) : describeDoubt(doubt);
  });
  const state = stateFolder(io.env, io.platform);
  const config = configFolder(io.env, io.platform);
  const folder = (name: string, path: string) => runCheck(name, 'disk', () => checkFolderWritable(path));
  const groups = await Promise.all(
    [
      [runCheck('node', 'configuration', () => checkNode(versions.node))],
      checkService(context, runCheck, doubt === null ? settings.found : null),
      [folder('state folder', state), folder('config folder', config)],
      [runCheck('locks', 'disk', () => checkLocks(lockFolders(context)))],
      [folder('temporary folder', tmpdir()), folder('current folder', io.cwd)],
      [runCheck('privacy', 'configuration', () => checkPermissions([state, config], warnings, io.platform))],
      checkEngines(context, runCheck, settings.found?.baseUrl.value == null),
      settings.found?.baseUrl.value === null ? [checkOwnAccount(runCheck, settings.found)] : [],
      [runCheck('terminal', 'configuration', () => checkTerminal(io))],
    ].map(async (group) => Promise.all(await group)),
  );
  return [configuration, ...groups.flat()];
}

function checkOwnAccount(runCheck: RunCheck, { stateDir }: Settings): Promise<CheckReport> {
  return runCheck('account', 'disk', () => checkAccount(stateDir.value));
}

function describeSettings({ baseUrl, profile }: Settings) {
  const from = describeOrigin(baseUrl.origin);
  const facts = { base_url: baseUrl.value, from, profile: profile?.value ?? null };
  const shown = baseUrl.value ?? 'the embedded service';
  return { grade: 'ok', message: `${shown} (${from})`, facts } as const;
}

/** On a build server no service may be chosen yet, which is a warning; an incomplete choice is a failure. */
function describeDoubt({ facts: { code, message, advice = '' } }: Failure) {
  const grade = code === 'SERVICE_NOT_CHOSEN' ? 'warn' : 'fail';
  return { grade, message, fix: advice, facts: { code } } as const;
}

/** Empty without settings: their own check reports why. */
async function checkService(
  context: Context,
  runCheck: RunCheck,
  settings: Settings | null,
): Promise<CheckReport[]> {
  if (settings === null) return [];
  const { value } = settings.baseUrl;
  const way = value === null ? [] : await checkBaseUrl(context, runCheck, value);
  // Without a connection the check of credentials would only wait for retries.
  if (way.some(({ grade, check }) => grade === 'fail' && check !== 'clock')) return way;
  const look = (signal: AbortSignal) => checkCredentials(context, signal);
  return [...way, await runCheck('credentials', 'configuration', look)];
}

async function checkBaseUrl(context: Context, runCheck: RunCheck, baseUrl: string): Promise<CheckReport[]> {
  const { env, now, checkMs = CHECK_LIMIT_MS } = context.io;
  const checked = await runCheck('address', 'configuration', async () => {
    parseBaseUrl(baseUrl);
    proxySettings(env);
    return { grade: 'ok', message: baseUrl };
  });
  if (checked.grade === 'fail') return [checked];
  const url = new URL(baseUrl);
  return [
    checked,
    ...(await checkConnection(runCheck, { url, proxy: proxySettings(env), now, limitMs: checkMs })),
  ];
}
