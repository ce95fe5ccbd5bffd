#!/usr/bin/env node
// Old syntax on purpose: this file must still run on a Node that is too old for everything that it loads.
'use strict';

const EXIT_CONFIGURATION = 4;
/** Set for the process that runs instead of one on a Node that vloc does not support. */
const WRAPPED = 'VLOC_WRAPPED';
/** Signals that ask a process to end, and that a supervisor may send to the wrapper alone. */
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];

const { describeNeeded, isSupported } = require('./needed-node.js');
const { existsSync } = require('node:fs');
const { join } = require('node:path');

const notBuilt = prepare();
if (notBuilt !== 0) process.exitCode = notBuilt;
else if (!isSupported(process.versions.node)) {
  const pinned = join(__dirname, '../node_modules/node/bin/node');
  if (existsSync(pinned)) handOver(pinned);
  else {
    process.stderr.write(
      `vloc needs Node ${describeNeeded()}; this is ${process.versions.node}. Install a current one from nodejs.org or your package manager.\n`,
    );
    process.exitCode = EXIT_CONFIGURATION;
  }
} else {
  if (process.env[WRAPPED] !== undefined) followWrapper();
  require('node:module').enableCompileCache();
  const { start } = load();
  // Node takes longer to shut down its own parts than to exit, and by then there is nothing left to wait for.
  start(process).then((code) => process.exit(code));
}

/** A fresh checkout is built at its first start: `npx vloc` in it only links it. A package is complete. */
function prepare() {
  const firstStart = join(__dirname, '../build/first-start.js');
  if (existsSync(join(__dirname, '../dist/vloc.cjs')) || !existsSync(firstStart)) return 0;
  // Ctrl-C is for npm, which this process waits for.
  for (const signal of FORWARDED) process.on(signal, () => undefined);
  const { status, signal } = require('node:child_process').spawnSync(process.execPath, [firstStart], {
    stdio: 'inherit',
  });
  for (const name of FORWARDED) process.removeAllListeners(name);
  if (status === 0) return 0;
  return signal === null ? EXIT_CONFIGURATION : 128 + require('node:os').constants.signals[signal];
}

function load() {
  try {
    return require('../dist/vloc.cjs');
  } catch (error) {
    // In a checkout, another build may have taken the place of this one while its files were loaded.
    if (error.code !== 'MODULE_NOT_FOUND' && error.code !== 'ENOENT') throw error;
    prepare();
    return require('../dist/vloc.cjs');
  }
}

/** Runs the same command on another Node, in a child that gets each signal once and ends with this process. */
function handOver(node) {
  // Loaded here: it costs a tenth of a start, and a Node that is new enough has no use for it.
  const { spawn } = require('node:child_process');
  const child = spawn(node, process.argv.slice(1), {
    env: Object.assign({}, process.env, { [WRAPPED]: '1' }),
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  child.on('error', (error) => {
    process.stderr.write(`vloc cannot run ${node}: ${error.message}\n`);
    process.exitCode = EXIT_CONFIGURATION;
  });
  for (const signal of FORWARDED) {
    let count = 0;
    process.on(signal, () => {
      count += 1;
      // A child that just ended takes no message, and needs none.
      if (child.connected) child.send({ signal, count }, () => undefined);
    });
  }
  // A process that is stopped already ignores a second stop, so the child may get it from the terminal too.
  const stop = () => {
    child.kill('SIGTSTP');
    process.removeListener('SIGTSTP', stop);
    process.kill(process.pid, 'SIGTSTP');
  };
  if (process.platform !== 'win32') {
    process.on('SIGTSTP', stop);
    process.on('SIGCONT', () => {
      child.kill('SIGCONT');
      if (!process.listeners('SIGTSTP').includes(stop)) process.on('SIGTSTP', stop);
    });
  }
  child.on('exit', (code, signal) => {
    process.exit(code === null ? 128 + require('node:os').constants.signals[signal] : code);
  });
}

/**
 * Ends with the wrapper, and takes the signals that only the wrapper got. A terminal, `timeout` and systemd send theirs to
 * both processes, where a second Ctrl-C would exit immediately; so both count, and only what is missing here is raised.
 */
function followWrapper() {
  delete process.env[WRAPPED];
  // Set by hand, without a wrapper.
  if (process.channel === undefined) return;
  const counts = {};
  for (const signal of FORWARDED) {
    counts[signal] = 0;
    const take = () => {
      counts[signal] += 1;
      if (process.listenerCount(signal) > 1) return;
      // Without a listener the signal ends the process, and this one must not change that.
      process.removeListener(signal, take);
      process.kill(process.pid, signal);
    };
    process.on(signal, take);
  }
  process.on('message', ({ signal, count }) => {
    const raise = () => counts[signal] < count && process.kill(process.pid, signal);
    // A signal to both was here before the message, but the event loop may report it one turn later.
    setImmediate(() => setImmediate(raise));
  });
  // The wrapper was killed: end in the same way. The records of a run survive that.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  // The listeners above must not keep a finished command running.
  process.channel.unref();
}
