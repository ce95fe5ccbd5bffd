import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, RolldownMagicString } from 'rolldown';
import { parseSync, Visitor } from 'rolldown/utils';
import reportPage from './src/report-page/rolldown.config.js';

const MODEL = 'silero_vad_v6.onnx';

/** What package.json exports. */
const PUBLIC = ['client', 'service'];

/** Data that the separation worker opens beside itself. */
const copyModel = {
  name: 'copy-model',
  writeBundle: () => copyFileSync(`src/engines/separate/${MODEL}`, `dist/${MODEL}`),
};

/**
 * commander can start commands that are programs of their own; ours are not, and loading that part of Node costs a tenth
 * of a start. It is loaded when commander calls it. The other parts it takes whole, which would be copied name by name.
 */
const lightCommander = {
  name: 'light-commander',
  resolveId: (id, importer) =>
    /^node:(child_process|fs|path|process)$/.test(id) && importer?.includes('/commander/')
      ? `\0light:${id}`
      : null,
  load(id) {
    if (!id.startsWith('\0light:')) return null;
    const part = `process.getBuiltinModule('${id.slice('\0light:'.length)}')`;
    return id.endsWith('child_process')
      ? `export default { spawn: (...call) => ${part}.spawn(...call) };`
      : `export default ${part};`;
  },
};

/**
 * cli-table3 requires an old string-width. Tables are measured with the current one, which takes 40 ms to load, before they
 * get there: all that is left to measure has one cell a letter (`src/cli/terminal/table.ts`).
 */
const noOldStringWidth = {
  name: 'no-old-string-width',
  resolveId: (id, importer) => (id === 'string-width' && importer?.includes('cli-table3') ? `\0${id}` : null),
  load: (id) => (id === '\0string-width' ? 'module.exports = (text) => text.length;' : null),
};

/** Chunks whose functions most commands call; in others most would be compiled for nothing. */
const LOADED_BY_MOST = ['vloc', 'start', 'main', 'calls', 'table'];

/**
 * A function in parentheses is compiled together with what is around it, and what is compiled with its file is all that
 * gets into Node's compile cache; any other is compiled anew in each run that calls it. Source: v8.dev/blog/preparser,
 * "Skipping inner functions".
 */
const eagerFunctions = {
  name: 'eager-functions',
  renderChunk(code, { name }) {
    return LOADED_BY_MOST.includes(name) ? { code: wrapFunctions(code), map: null } : null;
  },
  generateBundle(_options, bundle) {
    const names = new Set(Object.values(bundle).map(({ name }) => name));
    const lost = LOADED_BY_MOST.filter((name) => !names.has(name));
    if (lost.length > 0) throw new Error(`no chunk is called ${lost.join(', ')}; see LOADED_BY_MOST`);
  },
};

function wrapFunctions(code) {
  const text = new RolldownMagicString(code);
  const { program } = parseSync('chunk.js', code);
  const wrap = ({ start, end }) => text.appendRight(start, '(').appendLeft(end, ')');
  new Visitor({
    // Parentheses say nothing to V8 about an async one.
    ArrowFunctionExpression: (node) => node.async || wrap(node),
    // That of a method has no word of its own.
    FunctionExpression: (node) => code.startsWith('function', node.start) && wrap(node),
  }).visit(program);
  for (const { type, start, end, id } of program.body) {
    if (type !== 'FunctionDeclaration') continue;
    text.appendRight(start, `var ${id.name} = (`).appendLeft(end, ');\n');
    // At the beginning of the file they exist as early as they did when declared.
    text.move(start, end, 0);
  }
  return text.toString();
}

/** What programs import is a module of the standard; the same code as the tool's lies behind it. */
const publicModules = {
  name: 'public-modules',
  generateBundle(_options, bundle) {
    for (const { type, name, fileName, isEntry, exports } of Object.values(bundle)) {
      if (type !== 'chunk' || !isEntry || !PUBLIC.includes(name)) continue;
      const names = exports.toSorted().join(', ');
      const source = `import code from './${fileName}';\n\nexport const { ${names} } = code;\n`;
      this.emitFile({ type: 'asset', fileName: `${name}.js`, source });
    }
  },
};

/** The folder of the package that a module lies in; null for our own modules. */
function packageFolder(moduleId) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(moduleId.replaceAll('\\', '/'))?.[0] ?? null;
}

function describePackage(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^(licen[sc]e|copying)/i.test(entry));
  if (file === undefined && typeof license !== 'string') {
    throw new Error(
      `${name} says nowhere under which license it may be passed on; leave it out of the bundle`,
    );
  }
  const text = file === undefined ? `License: ${license}` : readFileSync(join(folder, file), 'utf8').trim();
  return `${name} ${version}\n\n${text}\n`;
}

/** Folders of packages whose code is in what was built so far. */
const bundled = new Set();

/** The licenses of everything in the bundles go along with them, as they demand. */
const gatherLicenses = {
  name: 'gather-licenses',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
    for (const folder of modules.map(packageFolder)) if (folder !== null) bundled.add(folder);
    const texts = [...bundled]
      .filter((folder) => existsSync(join(folder, 'package.json')))
      .map(describePackage);
    texts.push(`${MODEL}\n\n${readFileSync('src/engines/separate/README.md', 'utf8').trim()}\n`);
    const rule = `\n${'-'.repeat(80)}\n\n`;
    const source = `Packages that are part of vloc's files, with their licenses.\n${rule}${texts.sort().join(rule)}`;
    this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source });
  },
};

/** Native code and WebAssembly find their own files, so they stay packages. */
const EXTERNAL = ['@napi-rs/keyring', 'sherpa-onnx-node', '@jitsi/rnnoise-wasm', '@colors/colors/safe'];

const tool = defineConfig({
  input: {
    vloc: 'src/cli/start.ts',
    client: 'src/client/index.ts',
    service: 'src/service/index.ts',
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
          test: /src\/(cli\/version|errors\/system-error|client\/failure|profiles\/(environment|resolve|layers|folders|profile|project-file|proxy-settings|settings|secrets)|protocol\/(headers|kinds|kind-names|fields|id-prefixes|nearest))\.ts$|\/package\.json$/,
          priority: 3,
        },
        // The parser, what commands print with, and the way to a service but for what goes over it: the help needs no HTTP.
        {
          name: 'main',
          test: /src\/(cli\/(?!start|version)[\w-]+|cli\/terminal\/(terminal|plain-progress|step-text|style|escape)|(commands\/tree|context\/(command|connection|context|format|records)))\.ts$|node_modules\/commander/,
          priority: 1,
        },
        // What every call to a service needs; the rest of the client is loaded when it is used.
        {
          name: 'calls',
          test: /src\/(client\/(?!download|upload\/(?!uploads)|webhooks|jobs\/(look|wait|poll|forecast|guests|work-times)|failure|transport\/(http|undici))[\w/-]+|journal\/profile-id)\.ts$/,
        },
        { name: 'table', test: /src\/cli\/terminal\/table\.ts$/ },
        // Wanted by the profiles, which must not load the wire.
        { name: 'disk', test: /src\/disk\/[\w-]+\.ts$/, priority: 1 },
        // What client, commands and service share of the wire, and what opens the store.
        {
          name: 'wire',
          test: /src\/(protocol|service\/(store|config|credits|auth|folders|files))[\w/.-]*\.ts$/,
          minShareCount: 2,
        },
      ],
    },
  },
  plugins: [copyModel, lightCommander, noOldStringWidth, eagerFunctions, publicModules, gatherLicenses],
});

/** Programs and threads of their own. */
const workers = defineConfig({
  input: {
    'separate-worker': 'src/engines/separate/worker.ts',
    'keychain-worker': 'src/profiles/keychain-worker.ts',
    'hash-worker': 'src/client/upload/hash-worker.ts',
  },
  platform: 'node',
  external: EXTERNAL,
  output: { dir: 'dist', cleanDir: false, entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
  plugins: [gatherLicenses],
});

// The tool first: it empties the folder.
export default [tool, workers, reportPage];
