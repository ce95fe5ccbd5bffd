#!/usr/bin/env node
// Old syntax on purpose: this file must still run on a Node that is too old for everything behind it.
'use strict';

// The first 22 that has both node:sqlite and type stripping without a flag; undici 8 needs it too.
const NEEDED = [22, 19];
const EXIT_CONFIGURATION = 4;

const [major, minor] = process.versions.node.split('.').map(Number);
const isOldNode = major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1]);

if (isOldNode) {
  const pinned = require('node:path').join(__dirname, '../node_modules/node/bin/node');
  if (require('node:fs').existsSync(pinned)) handOver(pinned);
  else {
    process.stderr.write(
      `vloc needs Node ${NEEDED.join('.')} or newer; this is ${process.versions.node}. Install a newer one from nodejs.org or your package manager.\n`,
    );
    process.exitCode = EXIT_CONFIGURATION;
  }
} else {
  require('node:module').enableCompileCache();
  const { start } = require('../dist/vloc.cjs');
  // Node takes longer to take its own parts down than to go at once, and by then there is nothing left to wait for.
  start(process).then((code) => process.exit(code));
}

function handOver(node) {
  // Loaded here: it costs a tenth of a start, and a Node that is new enough has no use for it.
  const { spawn } = require('node:child_process');
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both of us; passing it on would count as the second one, which leaves at once.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('close', (code, signal) => {
    process.exitCode = code === null ? 128 + (signal === 'SIGTERM' ? 15 : 2) : code;
  });
}
