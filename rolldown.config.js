import { copyFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';

const MODEL = 'silero_vad_v6.onnx';

/** Data that the separation worker opens beside itself. */
const copyModel = {
  name: 'copy-model',
  writeBundle: () => copyFileSync(`src/engines/separate/${MODEL}`, `dist/${MODEL}`),
};

/**
 * commander can start commands that are programs of their own; ours are not, and loading that part of Node costs a tenth
 * of a start. It is loaded when commander calls it.
 */
const lazyChildProcess = {
  name: 'lazy-child-process',
  resolveId: (id, importer) =>
    id === 'node:child_process' && importer?.includes('/commander/') ? '\0lazy-child-process' : null,
  load: (id) =>
    id === '\0lazy-child-process'
      ? "export default { spawn: (...call) => process.getBuiltinModule('node:child_process').spawn(...call) };"
      : null,
};

export default defineConfig({
  input: {
    vloc: 'src/cli/start.ts',
    client: 'src/client/index.ts',
    service: 'src/service/index.ts',
    'separate-worker': 'src/engines/separate/worker.ts',
    'keychain-worker': 'src/profiles/keychain-worker.ts',
  },
  platform: 'node',
  // Native code and WebAssembly find their own files, so they stay packages.
  external: ['@napi-rs/keyring', 'sherpa-onnx-node', '@jitsi/rnnoise-wasm'],
  output: {
    dir: 'dist',
    cleanDir: true,
    // All in one folder: `import.meta.url` then means the same place in every chunk.
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    // What every run loads, in one file: each further file costs a third of a millisecond of start-up.
    codeSplitting: {
      groups: [
        // Apart from the rest, so that --version loads nothing else.
        {
          name: 'start',
          test: /src\/(cli\/version|profiles\/environment)\.ts$|\/package\.json$/,
          priority: 2,
        },
        {
          name: 'main',
          test: /src\/(cli\/(?!start|version)[\w-]+|commands\/(command|context|format|tree)|client\/failure)\.ts$|node_modules\/commander/,
          priority: 1,
        },
        // What client, commands and service share of the wire, and what opens the store.
        {
          name: 'wire',
          test: /src\/(protocol|service\/(store|config|credits|auth|folders|files))[\w/.-]*\.ts$/,
          minShareCount: 2,
        },
      ],
    },
  },
  plugins: [copyModel, lazyChildProcess],
});
