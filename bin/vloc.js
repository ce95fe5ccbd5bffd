#!/usr/bin/env node
// Old syntax on purpose: this file must still run on a Node that is too old for everything behind it.
// The first 22 that has both node:sqlite and type stripping without a flag; undici 8 needs it too.
const NEEDED = [22, 19];
const EXIT_CONFIGURATION = 4;

const [major, minor] = process.versions.node.split('.').map(Number);
const isOldNode = major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1]);

// What only the one case needs is loaded in that case: each of these costs a thirtieth of a start.
if (isOldNode) {
  const { existsSync } = await import('node:fs');
  const { fileURLToPath } = await import('node:url');
  const pinned = fileURLToPath(new URL('../node_modules/node/bin/node', import.meta.url));
  if (existsSync(pinned)) await handOver(pinned);
  else {
    process.stderr.write(
      `vloc needs Node ${NEEDED.join('.')} or newer; this is ${process.versions.node}. Install a newer one from nodejs.org or your package manager.\n`,
    );
    process.exitCode = EXIT_CONFIGURATION;
  }
} else {
  process.getBuiltinModule('node:module').enableCompileCache();
  const { start } = await import('../dist/vloc.js');
  process.exitCode = await start(process);
}

async function handOver(node) {
  // Loaded here: it costs a tenth of a start, and a Node that is new enough has no use for it.
  const { spawn } = await import('node:child_process');
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  // A terminal sends Ctrl-C to both of us; passing it on would count as the second one, which leaves at once.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('close', (code, signal) => {
    process.exitCode = code === null ? 128 + (signal === 'SIGTERM' ? 15 : 2) : code;
  });
}
