/** Which kind of system this is, and with which rights we run on it. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { System } from './catalog.ts';

/** Distributions by the ids in os-release; relatives name theirs under ID_LIKE. */
const LINUX: Readonly<Record<string, System>> = {
  debian: 'debian',
  ubuntu: 'debian',
  fedora: 'fedora',
  rhel: 'fedora',
  arch: 'arch',
};

/**
 * The system, by the platform and, on Linux, the text of /etc/os-release; null for one that we have no packages for.
 */
export function detectSystem(platform: NodeJS.Platform, osRelease: string): System | null {
  if (platform === 'darwin') return 'macos';
  if (platform === 'win32') return 'windows';
  const ids = [...osRelease.matchAll(/^(?:ID|ID_LIKE)=(.*)$/gm)].flatMap(([, value = '']) =>
    value.replaceAll('"', '').split(/\s+/),
  );
  return ids.map((id) => LINUX[id]).find((system) => system !== undefined) ?? null;
}

/** Reads /etc/os-release; empty where there is none. */
export function readOsRelease(): string {
  try {
    return readFileSync('/etc/os-release', 'utf8');
  } catch {
    return '';
  }
}

/** `root`: none needed. `sudo`: without a password. `password`: sudo will ask. `none`: somebody else must install. */
export type Privilege = 'root' | 'sudo' | 'password' | 'none';

/** How commands of the system's package manager can be run. */
export function detectPrivilege(sudo: string | null): Privilege {
  if (process.getuid?.() === 0) return 'root';
  if (sudo === null) return 'none';
  try {
    execFileSync(sudo, ['-n', 'true'], { stdio: 'ignore', timeout: 5_000 });
    return 'sudo';
  } catch {
    return 'password';
  }
}

/** Older lists name versions that the mirror has replaced. */
const FRESH_MS = 24 * 3600 * 1000;

/** Whether Debian's lists of packages are there and were fetched within a day. */
export function hasFreshLists(now: number, folder = '/var/lib/apt/lists'): boolean {
  try {
    const lists = readdirSync(folder).some((name) => /_Packages(\.\w+)?$/.test(name));
    return lists && now - statSync(folder).mtimeMs < FRESH_MS;
  } catch {
    return false;
  }
}
