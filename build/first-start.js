/**
 * Installs the packages of a fresh checkout, and builds it. Of several starts at the same time, one does it and the others wait. Old syntax
 * on purpose, as in bin/vloc.js.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
const built = join(folder, 'dist/vloc.cjs');
/** Has the ids of the processes that build. bin/vloc.js has the same name: while it exists, what is built may be incomplete. */
const lock = join(folder, '.vloc-build.lock');
/** Short compared with a build, which takes a minute. */
const RECHECK_MS = 300;

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
      // The holder was killed, and what it built may be incomplete.
      rmSync(built, { force: true });
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

/** The data of the command that follows goes to stdout, so npm's words go to stderr. */
function run(command) {
  const child = spawn(command, { cwd: folder, shell: true, stdio: ['ignore', 2, 2] });
  // npm continues if this process is killed.
  if (existsSync(lock)) appendFileSync(lock, `${child.pid}\n`);
  return new Promise((resolve) => {
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
  });
}

async function build() {
  process.stderr.write('This checkout is not built yet: running npm ci, which takes a minute.\n');
  // Without warnings: on an old Node there is one for each package that wants a newer one, which is among them.
  const isInstalled = await run('npm ci --loglevel=error --no-audit --no-fund');
  // With ignore-scripts in the settings of npm, installing did not build.
  return isInstalled && (existsSync(built) || run('npm run --silent build'));
}

async function main() {
  await waitForLock();
  let interruption = null;
  // After Ctrl-C npm removes what it began. A start before that would find half of it, so this process ends after npm.
  const take = (signal) => {
    interruption = signal;
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, take);
  // Another process may have built it meanwhile.
  const isBuilt = existsSync(built) || (await build());
  rmSync(lock, { force: true });
  if (isBuilt) return;
  process.stderr.write(
    `vloc is not built: npm ${interruption === null ? 'failed' : 'was interrupted'} in ${folder}\n`,
  );
  process.exitCode = 1;
  if (interruption === null) return;
  process.removeListener(interruption, take);
  process.kill(process.pid, interruption);
}

main();
