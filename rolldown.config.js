import { defineConfig } from 'rolldown';
import { copyData, gatherLicenses } from './build/files.js';
import { eagerFunctions, lightCommander, noOldStringWidth } from './build/start-up.js';
import reportPage from './src/report-page/rolldown.config.js';

/** Native code and WebAssembly find their own files, so they stay packages. */
const EXTERNAL = ['@napi-rs/keyring', 'sherpa-onnx-node', '@jitsi/rnnoise-wasm', '@colors/colors/safe'];

const tool = defineConfig({
  input: {
    vloc: 'src/cli/start.ts',
  },
  platform: 'node',
  external: EXTERNAL,
  output: {
    dir: 'dist',
    cleanDir: true,
    // Node loads it in a third less time: an imported file costs a chain of promises, and an imported part of Node a copy of
    // all its exports, for which it loads much that nobody asked for.
    format: 'cjs',
    // All in one folder: `import.meta.url` then means the same place in every chunk.
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    // What every run loads, in few files: each further one costs more than half a millisecond of start-up.
    codeSplitting: {
      groups: [
        // Apart from the rest, so that --version and values for a shell, names of profiles among them, load neither parser
        // nor client.
        {
          name: 'start',
          test: /src\/(context\/version|errors\/system-error|profiles\/(environment|resolve|profile|project-file|settings|secrets)|protocol\/(headers|kinds|kind-names|fields|id-prefixes|language-tag|nearest))\.ts$|\/package\.json$/,
          priority: 3,
        },
        // What the service shares with the parser and the client: it must load neither, as programs start it without the command.
        {
          name: 'shared',
          test: /src\/(errors\/amounts|protocol\/(job-failure|instant|signature|canonical|webhook-signature|constant-time|error-codes|loopback|operations|resources|states))\.ts$/,
          priority: 2,
        },
        // The parser, what commands print with, and the way to a service but for what goes over it: the help needs no HTTP, and
        // no way to start the process that asks for a newer version.
        {
          name: 'main',
          test: /src\/(cli\/(?!start|version|update)[\w-]+|cli\/terminal\/(terminal|plain-progress|progress-text|repeat|style|escape)|(commands\/tree|context\/(command|connection|context|format|global-options|records)))\.ts$|node_modules\/commander/,
          priority: 1,
        },
        // What every call to a service needs; the rest of the client is loaded when it is used.
        {
          name: 'calls',
          test: /src\/(client\/(?!download|upload\/(?!uploads)|webhooks|jobs\/(look|wait|poll|shared)|failure|transport\/(http|undici))[\w/-]+|journal\/profile-id|commands\/credits)\.ts$/,
        },
        { name: 'table', test: /src\/cli\/terminal\/table\.ts$/ },
        // Used by the profiles, which must load neither the client nor cryptography.
        { name: 'disk', test: /src\/disk\/(?!hash-file)[\w-]+\.ts$/, priority: 1 },
        // What client, commands and service share of the wire, and what opens the store: not PostgreSQL, whose driver is as
        // large as all of the rest.
        {
          name: 'wire',
          test: /src\/(protocol|service\/(store\/(?!.*postgres|database-clock)|config|credits|auth|folders|files))[\w/.-]*\.ts$/,
          minShareCount: 2,
        },
      ],
    },
  },
  plugins: [copyData, lightCommander, noOldStringWidth, eagerFunctions, gatherLicenses],
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
    dir: 'dist',
    cleanDir: false,
    entryFileNames: '[name].js',
    chunkFileNames: 'lib-[name]-[hash].js',
  },
  plugins: [gatherLicenses],
});

/** Programs and threads of their own. */
const workers = defineConfig({
  input: {
    'separate-worker': 'src/engines/separate/worker.ts',
    'sherpa-worker': 'src/engines/backends/sherpa/worker.ts',
    'keychain-worker': 'src/profiles/keychain-worker.ts',
    'version-worker': 'src/cli/version-worker.ts',
    'hash-worker': 'src/client/upload/hash-worker.ts',
  },
  platform: 'node',
  external: EXTERNAL,
  output: { dir: 'dist', cleanDir: false, entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
  plugins: [gatherLicenses],
});

// The tool first: it empties the folder.
export default [tool, library, workers, reportPage];
