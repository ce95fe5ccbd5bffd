import { join } from 'node:path';
import { defineConfig } from 'rolldown';
import {
  copyData,
  leaveOutUnused,
  listPackages,
  loadPartsOfNode,
  makeTable,
  NEW_FOLDER,
} from './build/files.js';
import reportPage from './src/batch/page/rolldown.config.js';

/** Native code and WebAssembly find their own files, so they stay packages. */
const EXTERNAL = ['@napi-rs/keyring', 'sherpa-onnx-node', '@jitsi/rnnoise-wasm'];

const tool = defineConfig({
  input: {
    vloc: 'src/cli/start.ts',
  },
  platform: 'node',
  external: EXTERNAL,
  output: {
    // Node loads it in a third less time: an imported file costs a chain of promises, and an imported part of Node a copy of
    // all its exports, for which it loads much that nobody asked for.
    format: 'cjs',
    // All in one folder: `import.meta.url` then means the same place in every chunk.
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    comments: false,
    // Each file that is loaded costs about 0.3 ms, and a signed call needs 55 of them when each stands alone.
    codeSplitting: {
      groups: [
        { name: 'start', tags: ['$initial'], priority: 2 },
        // A press of Tab loads it, and node:crypto, which two files of base use, takes long.
        {
          name: 'shared',
          test: /src.(base.(?!hash-file|replace-file)|protocol)/,
          minShareCount: 12,
          priority: 1,
        },
        { name: 'client', test: /src.client.(?!webhooks|upload|download)/ },
      ],
    },
  },
  resolve: {
    alias: {
      'string-width': join(import.meta.dirname, 'build/string-width.cjs'),
      // cli-table3 would colour with it, and is never asked to.
      '@colors/colors/safe': false,
    },
  },
  plugins: [makeTable, copyData, leaveOutUnused, listPackages],
});

/** What package.json exports: ES modules, of which a bundler takes only what a program uses. */
const library = defineConfig({
  input: {
    client: 'src/client/index.ts',
    webhooks: 'src/client/webhooks/index.ts',
    service: 'src/service/index.ts',
  },
  platform: 'node',
  external: EXTERNAL,
  // Beside the workers and data, which the code finds by `import.meta.url`.
  output: {
    entryFileNames: '[name].js',
    chunkFileNames: 'lib-[name]-[hash].js',
  },
  // Never asked for, and it would need a `require`.
  resolve: { alias: { 'pg-native': false } },
  // undici asks for it where there is one. webpack says so of ES modules, and then there is none.
  transform: { define: { __filename: 'undefined' } },
  plugins: [loadPartsOfNode, leaveOutUnused, listPackages],
});

/** Programs and threads of their own. */
const workers = defineConfig({
  input: {
    'separate-worker': 'src/engines/separate/worker.ts',
    'sherpa-worker': 'src/engines/backends/sherpa/worker.ts',
    'llama-worker': 'src/engines/backends/llama/worker.ts',
    'keychain-worker': 'src/profiles/keychain-worker.ts',
    'version-worker': 'src/cli/version-worker.ts',
  },
  platform: 'node',
  external: EXTERNAL,
  output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
  plugins: [leaveOutUnused, listPackages],
});

/** The interpreter of jq finds its own folder as CommonJS does. */
const jqWorker = defineConfig({
  input: { 'jq-worker': 'src/cli/jq-worker.ts' },
  platform: 'node',
  output: { format: 'cjs', entryFileNames: '[name].cjs' },
  plugins: [listPackages],
});

export default [tool, library, workers, jqWorker, reportPage].map((config) => ({
  ...config,
  output: { ...config.output, dir: NEW_FOLDER },
}));
