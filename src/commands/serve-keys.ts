/** What the commands on keys share: the state folder they work on, and how a key is shown. */
import { resolve } from 'node:path';
import type { Context } from '../context/context.ts';
import { openStateFolder } from '../context/state-folder.ts';
import { Failure } from '../errors/failure.ts';
import { stateFolder } from '../profiles/resolve.ts';
import type { KeyDescription } from '../service/auth/keys.ts';
import type { KeyAdmin } from '../service/operate/key-admin.ts';

export const STATE_DIR = {
  type: 'text',
  value: 'dir',
  help: 'folder of the service (default: VLOC_STATE_DIR or the XDG state folder)',
} as const;

/** What names the folder, and whether it is made where no service has been. */
export interface KeyFolder {
  readonly stateDir: string | undefined;
  readonly make: boolean;
}

/**
 * Does something with the keys of a state folder, and closes it.
 * @throws Failure: `usage` where no service has been and none is to be made, else `disk`
 */
export async function withKeys<Result>(
  context: Context,
  { stateDir, make }: KeyFolder,
  work: (desk: KeyAdmin) => Promise<Result> | Result,
): Promise<Result> {
  const { hasService, openKeyDesk } = await import('../service/operate/key-admin.ts');
  const { env, platform, now, cwd } = context.io;
  const folder = resolve(cwd, stateDir ?? stateFolder(env, platform));
  const chooser = stateDir === undefined ? 'VLOC_STATE_DIR' : '--state-dir';
  if (!make && !hasService(folder)) throw noService(folder, chooser);
  const desk = await openStateFolder(folder, chooser, () => openKeyDesk(folder, now));
  try {
    return await openStateFolder(folder, chooser, async () => work(desk));
  } finally {
    desk.close();
  }
}

function noService(folder: string, chooser: string): Failure {
  return new Failure({
    category: 'usage',
    code: 'NO_SERVICE',
    message: `no service has been in ${folder}`,
    advice: `Check the folder that ${chooser} names; \`vloc serve keys create\` makes the first key of a new one.`,
  });
}

/**
 * Shows a new key; one whose secrets could not be shown is taken back, since nobody would ever know them.
 * @throws Failure that says so
 */
export async function showNewKey(context: Context, show: () => void, takeBack: () => unknown): Promise<void> {
  show();
  try {
    await context.printed();
  } catch (error) {
    await takeBack();
    if (!(error instanceof Failure)) throw error;
    const advice =
      'What cannot be shown is not kept: no key was kept. Fix the problem, then run the same command again.';
    throw error.with({ advice });
  }
}

/** A key in the JSON forms, under the names of the interface. */
export function keyDocument(key: KeyDescription): object {
  return {
    key: key.key,
    permissions: key.permissions,
    monthly_quota_credits: key.monthlyLimitCredits,
    allowed_addresses: key.allowedAddresses,
    created_at: new Date(key.createdAt).toISOString(),
    revoked_at: key.revokedAt === null ? null : new Date(key.revokedAt).toISOString(),
  };
}
