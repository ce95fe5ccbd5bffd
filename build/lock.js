/**
 * One process at a time installs packages and builds in this checkout; the others wait for it. Old syntax on purpose, as in bin/vloc.js.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const folder = fileURLToPath(new URL('..', import.meta.url));
/** Has the ids of the processes that build. */
const lock = join(folder, '.vloc-build.lock');
/** Set for the processes of the one that has the lock. */
const HELD = 'VLOC_BUILD_LOCK';
/** Short compared with a build, which takes a minute. */
const RECHECK_MS = 300;

/** Waits for the lock. Returns the function that releases it. */
export async function holdLock() {
  if (process.env[HELD] !== undefined) return () => undefined;
  await waitForLock();
  process.env[HELD] = '1';
  return () => rmSync(lock, { force: true });
}

/** Returns false if another process has the lock. */
function takeLock() {
  try {
    writeFileSync(lock, `${process.pid}\n`, { flag: 'wx' });
    return true;
  } catch (error) {
    // npm says why a folder cannot be written to.
    return error.code !== 'EEXIST';
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Another user's process may not be signalled.
    return error.code === 'EPERM';
  }
}

async function waitForLock() {
  let hasSaid = false;
  while (!takeLock()) {
    const pids = readHolders();
    if (pids.length > 0 && !pids.some(isRunning)) {
      rmSync(lock, { force: true });
      continue;
    }
    if (!hasSaid && pids.length > 0) {
      process.stderr.write(
        `Process ${pids[0]} is building this checkout: waiting for it. If no vloc or npm runs there, remove ${lock}.\n`,
      );
      hasSaid = true;
    }
    await delay(RECHECK_MS);
  }
}

/** Returns an empty list for a lock that is being created or removed. */
function readHolders() {
  try {
    return (readFileSync(lock, 'utf8').match(/\d+(?=\n)/g) || []).map(Number);
  } catch {
    return [];
  }
}

/**
 * Runs a command in the checkout. Its output goes to stderr, because the data of the command that follows a first start goes to stdout.
 * @returns whether it succeeded
 */
export function run(command) {
  const child = spawn(command, { cwd: folder, shell: true, stdio: ['ignore', 2, 2] });
  // It continues if this process is killed.
  if (existsSync(lock)) appendFileSync(lock, `${child.pid}\n`);
  return new Promise((resolve) => {
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
  });
}
