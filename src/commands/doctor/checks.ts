/** All checks of `vloc doctor`. */

import { tmpdir } from 'node:os';
import { versions } from 'node:process';
import type { Failure } from '../../base/failure.ts';
import { parseBaseUrl } from '../../client/transport/request.ts';
import { configFolder, proxySettings, stateFolder } from '../../profiles/environment.ts';
import { ambiguityFailure } from '../../profiles/resolve.ts';
import { describeOrigin, type Settings } from '../../profiles/settings.ts';
import { readSettings } from '../context/connection.ts';
import type { Context } from '../context/context.ts';
import { checkAccount } from './account.ts';
import { CHECK_LIMIT_MS, type CheckReport, type RunCheck } from './findings.ts';
import { checkLocks, type LockFolders } from './locks.ts';
import { checkFolderWritable, checkNode, checkPermissions, checkTerminal } from './machine.ts';
import { checkEngines } from './media-engines.ts';
import { checkConnection, checkCredentials } from './network.ts';

export function lockFolders({ io }: Context): LockFolders {
  const { env, platform, cwd } = io;
  return { state: stateFolder(env, platform), config: configFolder(env, platform), current: cwd };
}

/** Runs all checks concurrently; the reports are in the order of display. */
export async function runChecks(context: Context, runCheck: RunCheck): Promise<CheckReport[]> {
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
