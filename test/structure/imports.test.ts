/** Rules about imports: their direction, and where each package may be used. */
import { describe, expect, it } from 'vitest';
import packageFile from '../../package.json' with { type: 'json' };
import { findCycle, listFiles, packageOf, readModules } from './modules.ts';

/** What the client's side of the tool is built on. */
const CLIENT_SIDE = ['errors', 'protocol', 'disk', 'client', 'journal', 'batch'];

/** The folders that the files of a folder may import, besides their own. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  errors: [],
  protocol: [],
  disk: ['errors'],
  client: ['errors', 'protocol', 'disk'],
  journal: ['errors', 'protocol', 'disk'],
  batch: ['errors', 'protocol', 'disk', 'client', 'journal'],
  'report-page': ['errors', 'protocol', 'batch'],
  profiles: ['errors', 'protocol', 'disk', 'client', 'journal'],
  engines: ['errors', 'protocol', 'disk'],
  prepare: ['errors', 'protocol', 'disk', 'engines'],
  service: ['errors', 'protocol', 'disk', 'engines'],
  context: ['errors', 'protocol', 'client', 'journal', 'batch', 'profiles', 'engines', 'prepare', 'service'],
  workflow: [...CLIENT_SIDE, 'profiles', 'engines', 'prepare', 'context'],
  stages: [...CLIENT_SIDE, 'prepare', 'engines', 'context', 'workflow'],
  outputs: [...CLIENT_SIDE, 'context', 'workflow'],
  mcp: [...CLIENT_SIDE, 'context'],
  commands: [
    ...CLIENT_SIDE,
    'mcp',
    'profiles',
    'engines',
    'service',
    'context',
    'workflow',
    'stages',
    'outputs',
  ],
  cli: ['errors', 'protocol', 'client', 'batch', 'profiles', 'context', 'commands'],
};

/** Where each package may be imported. */
const HOMES: Record<string, readonly string[]> = {
  commander: ['cli'],
  undici: ['client/transport'],
  execa: ['engines'],
  conf: ['profiles'],
  '@napi-rs/keyring': ['profiles'],
  ora: ['cli'],
  chalk: ['cli'],
  'cli-table3': ['cli'],
  'log-update': ['cli'],
  'string-width': ['cli'],
  'jq-wasm': ['cli'],
  filenamify: ['batch'],
  tinyglobby: ['batch'],
  'csv-parse': ['batch'],
  hono: ['service'],
  '@hono/node-server': ['service'],
  pg: ['service/store'],
  aws4fetch: ['service/storage'],
  'ipaddr.js': ['service'],
  valibot: ['protocol', 'journal', 'batch', 'profiles', 'service', 'engines', 'prepare', 'outputs'],
  '@valibot/to-json-schema': ['protocol'],
  'prom-client': ['service'],
  '@modelcontextprotocol/server': ['mcp'],
  ulid: ['protocol'],
  'sherpa-onnx-node': ['engines'],
  '@jitsi/rnnoise-wasm': ['engines'],
  'fft.js': ['engines'],
  'media-captions': ['prepare'],
  'ass-compiler': ['prepare'],
};

/**
 * Modules inside undici that its documentation does not name, because loading the whole package takes longer (see the
 * decisions in src/README.md). Only this file may import them.
 */
const UNDICI_PARTS = {
  file: 'src/client/transport/http.ts',
  modules: ['undici/lib/api/api-request.js', 'undici/lib/dispatcher/agent.js'],
};

/**
 * What is loaded when it is needed, and why: one command, one workflow of its own, or a heavy package. Everything else is loaded
 * with the file that uses it.
 */
const LAZY: Readonly<Record<string, string>> = {
  'src/batch/plan/find-files.ts': 'tinyglobby',
  'src/cli/jq.ts': 'jq-wasm',
  'src/cli/main.ts': 'the parser, which --version and completion do not need',
  'src/cli/stdout-fault.ts': 'only for output that cannot be written',
  'src/cli/terminal/ask.ts': 'node:readline',
  'src/cli/terminal/live-board.ts': 'log-update',
  'src/cli/terminal/live-progress.ts': 'ora',
  'src/cli/terminal/table.ts': 'cli-table3 and string-width',
  'src/cli/terminal/terminal.ts': 'help and --version print without it',
  'src/cli/update-notice.ts': 'only on a terminal',
  'src/client/client.ts': 'help needs no client',
  'src/client/download/download.ts': 'only for results',
  'src/client/jobs/shared-poller.ts': 'only for waiting',
  'src/client/jobs/wait.ts': 'only for waiting',
  'src/client/transport/call-http.ts': 'node:http',
  'src/client/transport/http.ts': 'undici',
  'src/client/upload/send-file.ts': 'only for uploads',
  'src/commands/completion-values.ts': 'a command',
  'src/commands/describe-commands.ts': 'only for programs that ask',
  'src/context/engines.ts': 'only for the embedded service and the completion of engines',
  'src/disk/folder.ts': 'only for downloads',
  'src/engines/config-check.ts': 'valibot',
  'src/journal/append-log.ts': 'completion of ids alone needs the journal',
  'src/journal/hold.ts': 'only for changes of profiles',
  'src/journal/job-record.ts': 'completion of ids alone needs the journal',
  'src/journal/profile-id.ts': 'node:crypto',
  'src/journal/upload-record.ts': 'completion of ids alone needs the journal',
  'src/mcp/folders.ts': 'a command',
  'src/mcp/server.ts': '@modelcontextprotocol/server',
  'src/mcp/session.ts': 'a command',
  'src/mcp/tools.ts': 'a command',
  'src/outputs/batches.ts': 'schemas, only for programs that ask',
  'src/outputs/embedded-service.ts': 'schemas, only for programs that ask',
  'src/outputs/machine.ts': 'schemas, only for programs that ask',
  'src/outputs/runs.ts': 'schemas, only for programs that ask',
  'src/outputs/service-records.ts': 'schemas, only for programs that ask',
  'src/profiles/schemas.ts': 'valibot',
  'src/profiles/store.ts': 'a build server has no profiles',
  'src/protocol/constant-time.ts': 'node:crypto',
  'src/protocol/openapi/document.ts': 'the validators of all resources',
  'src/protocol/requests.ts': 'the validators of all requests',
  'src/service/control/start.ts': 'only for tests of clients',
  'src/service/operate/metrics.ts': 'prom-client',
  'src/service/storage/open-s3.ts': 'aws4fetch',
  'src/service/storage/s3-address.ts': 'only with a bucket',
  'src/service/store/open-postgres.ts': 'pg',
  'src/stages/run-stages.ts': 'a workflow of its own',
  'src/stages/show-stages.ts': 'a workflow of its own',
};

const modules = readModules('src');
const edges = modules.flatMap((from) => from.imports.map((found) => ({ from, ...found })));
const local = edges.flatMap(({ target, ...edge }) => (target === null ? [] : [{ ...edge, target }]));
const show = (found: readonly { from: { path: string }; specifier: string }[]) =>
  found.map(({ from, specifier }) => `${from.path} imports ${specifier}`);

describe('imports between folders', () => {
  it('go one way only', () => {
    const wrong = local.filter(({ from, target }) => {
      const to = target.split('/')[1] ?? '';
      const isInside = target.startsWith('src/');
      return isInside && to !== from.folder && !MAY_IMPORT[from.folder]?.includes(to);
    });
    expect(show(wrong)).toEqual([]);
  });

  it('never leave the sources, except for the package file', () => {
    const outside = local.filter(({ target }) => !target.startsWith('src/') && target !== 'package.json');
    expect(show(outside)).toEqual([]);
  });

  it('keep every folder in the rules', () => {
    const folders = new Set(modules.map(({ folder }) => folder));
    expect([...folders].filter((folder) => !Object.hasOwn(MAY_IMPORT, folder))).toEqual([]);
  });

  it('let the service import only the front of the engines', () => {
    const behind = local.filter(
      ({ from, target }) => from.folder === 'service' && /^src\/engines\/.+\//.test(target),
    );
    expect(show(behind)).toEqual([]);
  });

  it('load the service in five files only, when they run', () => {
    const loading = local.filter(
      ({ from, target, manner }) =>
        from.folder !== 'service' && target.startsWith('src/service/') && manner !== 'type',
    );
    expect(show(loading.filter(({ manner }) => manner === 'eager'))).toEqual([]);
    const files = new Set(loading.map(({ from }) => from.path));
    expect([...files]).toEqual([
      'src/commands/serve-keys.ts',
      'src/commands/serve-migrate.ts',
      'src/commands/serve-options.ts',
      'src/commands/serve.ts',
      'src/context/connection.ts',
    ]);
  });

  it('are lazy only for commands, the service, the media work, types of engines and the files of the table', () => {
    const lazyTables = ['src/commands/tree.ts', 'src/engines/registry.ts'];
    const ownFolders = ['service', 'engines', 'prepare'];
    const lazy = local.filter(({ from, target, manner }) => {
      const to = target.split('/')[1] ?? '';
      const isBoundary = ownFolders.includes(to) && from.folder !== to;
      return manner === 'lazy' && !isBoundary && !lazyTables.includes(from.path);
    });
    expect([...new Set(lazy.map(({ target }) => target))].sort()).toEqual(Object.keys(LAZY));
  });

  it('load the media work when it is needed', () => {
    const mediaWork = ['engines', 'prepare'];
    const eager = local.filter(
      ({ from, target, manner }) =>
        !mediaWork.includes(from.folder) && /^src\/(engines|prepare)\//.test(target) && manner === 'eager',
    );
    expect(show(eager)).toEqual([]);
  });
});

describe('imports of files', () => {
  it('never go in a circle', () => {
    expect(findCycle(modules)).toBeNull();
  });

  it('name the file with its ending, and the file exists', () => {
    const files = new Set(listFiles('src'));
    const wrong = local.filter(
      ({ target }) => target !== 'package.json' && !(target.endsWith('.ts') && files.has(target)),
    );
    expect(show(wrong)).toEqual([]);
  });
});

describe('imports of packages', () => {
  it('are only in the folders listed for each package', () => {
    const wrong = edges.filter((edge) => {
      const name = packageOf(edge);
      const homes = name === null ? null : (HOMES[name] ?? []);
      return homes !== null && !homes.some((home) => edge.from.path.startsWith(`src/${home}/`));
    });
    expect(show(wrong)).toEqual([]);
  });

  it('name two modules inside undici, in one file', () => {
    const inner = edges.filter(({ specifier }) => specifier.startsWith('undici/'));
    expect(show(inner).sort()).toEqual(
      UNDICI_PARTS.modules.map((name) => `${UNDICI_PARTS.file} imports ${name}`),
    );
  });

  it('find in these modules what the public API of undici exports, and pin its version', async () => {
    const { Agent } = await import('undici');
    expect((await import('undici/lib/dispatcher/agent.js')).default).toBe(Agent);
    expect((await import('undici/lib/api/api-request.js')).default).toBe(Agent.prototype.request);
    expect(packageFile.devDependencies.undici).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('use the node: prefix for the modules of Node', () => {
    const bare = edges.filter(({ specifier }) =>
      /^(fs|path|os|crypto|child_process|http|stream)\b/.test(specifier),
    );
    expect(show(bare)).toEqual([]);
  });
});
