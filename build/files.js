/** Files that are written beside the bundles: data and licenses. */
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Data that code opens beside itself, with the text about its origin. */
const DATA = [
  { folder: 'src/media/audio', file: 'silero_vad_v6.onnx' },
  { folder: 'src/engines/trial', file: 'speech-0870.flac' },
];

/** Licenses of what is part of packages that do not include them, by the name of the package. */
const NOTICES = 'build/notices';

/** Where a build is made, before it gets the name `dist`. tsconfig.build.json has it, too. */
export const NEW_FOLDER = 'dist.new';

export const copyData = {
  name: 'copy-data',
  writeBundle() {
    for (const { folder, file } of DATA) copyFileSync(join(folder, file), join(NEW_FOLDER, file));
  },
};

/** Gives the table of completions as its value, because to make it every command is loaded. */
export const makeTable = {
  name: 'make-table',
  load: {
    filter: { id: /completion-table\.ts$/ },
    async handler(id) {
      const { loadTable } = await import(pathToFileURL(id).href);
      const json = JSON.stringify(JSON.stringify(await loadTable()));
      return `const TABLE = JSON.parse(${json});\nexport const loadTable = async () => TABLE;\n`;
    },
  },
};

const PART_OF_NODE = new RegExp(
  `\\brequire\\((['"](?:node:[\\w/]+|${builtinModules.join('|')})['"])\\)`,
  'g',
);

/**
 * Lets CommonJS packages in ES modules load parts of Node where they are needed. The usual `createRequire(import.meta.url)` fails when
 * another bundler makes CommonJS of it.
 */
export const loadPartsOfNode = {
  name: 'load-parts-of-node',
  transform: {
    filter: { id: /node_modules/, code: PART_OF_NODE },
    handler: (code) => code.replaceAll(PART_OF_NODE, 'process.getBuiltinModule($1)'),
  },
};

/**
 * What undici has for browsers' interfaces, tests, caches, retries, HTTP/2 and another parser: two thirds of its size and of its
 * start. Nothing here uses it.
 */
const UNUSED_UNDICI =
  /node_modules.undici.lib.(?:web|mock|cache|handler|interceptor|milo|dispatcher.(?:client-h2|parser-h1))\b/;

export const leaveOutUnused = {
  name: 'leave-out-unused',
  load: {
    filter: { id: UNUSED_UNDICI },
    // Each of its parts is this function. The main file makes an object with one of them.
    handler: () => 'module.exports = new Proxy(function () {}, { get: (part) => part });',
  },
};

/** The folder of the package that contains a module; null for our own modules. */
function packageFolder(moduleId) {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(moduleId.replaceAll('\\', '/'))?.[0] ?? null;
}

function describePackage(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^(licen[sc]e|copying)/i.test(entry));
  if (file === undefined && typeof license !== 'string') {
    throw new Error(
      `${name} says nowhere under which license it may be redistributed; leave it out of the bundle`,
    );
  }
  const text = file === undefined ? `License: ${license}` : readFileSync(join(folder, file), 'utf8').trim();
  const parts = join(NOTICES, `${name}.txt`);
  const notice = existsSync(parts) ? `\n${readFileSync(parts, 'utf8').trim()}\n` : '';
  return `${name} ${version}\n\n${text}\n${notice}`;
}

/** An entry of a bill of materials. `npm audit` does not see packages that are part of the bundles. */
function componentOf(folder) {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return {
    'bom-ref': `${name}@${version}`,
    type: 'library',
    name,
    version,
    scope: 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    properties: [{ name: 'cdx:npm:package:bundled', value: 'true' }],
  };
}

/** Folders of packages whose code is in what was built so far. */
const bundled = new Set();

/** Lists everything in the bundles: as CycloneDX for scanners, and with the licenses, as they demand. */
export const listPackages = {
  name: 'list-packages',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
    for (const folder of modules.map(packageFolder)) if (folder !== null) bundled.add(folder);
    const folders = [...bundled].filter((folder) => existsSync(join(folder, 'package.json')));
    const components = folders
      .map(componentOf)
      .sort((left, right) => (left['bom-ref'] < right['bom-ref'] ? -1 : 1));
    const bill = { bomFormat: 'CycloneDX', specVersion: '1.6', version: 1, components };
    this.emitFile({ type: 'asset', fileName: 'bom.cdx.json', source: `${JSON.stringify(bill, null, 2)}\n` });
    const texts = folders.map(describePackage);
    for (const { folder, file } of DATA) {
      texts.push(`${file}\n\n${readFileSync(join(folder, `${file}.license`), 'utf8').trim()}\n`);
    }
    const rule = `\n${'-'.repeat(80)}\n\n`;
    const source = `Packages that are part of vloc's files, with their licenses.\n${rule}${texts.sort().join(rule)}`;
    this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source });
  },
};
