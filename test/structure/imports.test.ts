/** Rules about imports: their direction, and where each package may be used. */
import { describe, expect, it } from 'vitest';
import packageFile from '../../package.json' with { type: 'json' };
import { packageOf, readModules } from './modules.ts';

/** The rooms of `src`. A file may import from rooms below its own. */
const ROOMS = [
  'cli',
  'commands',
  'profiles',
  'batch',
  'service',
  'engines',
  'media',
  'client',
  'protocol',
  'base',
];

/**
 * Rooms that do not know each other although one is below the other: one mistake in both ends of the protocol would pass
 * unnoticed, and the client's side works with any service.
 */
const APART: readonly (readonly [string, string])[] = [
  ['profiles', 'service'],
  ['batch', 'service'],
  ['batch', 'engines'],
  ['service', 'client'],
  ['engines', 'client'],
  ['media', 'client'],
];

/** Where each package may be imported. */
const HOMES: Record<string, readonly string[]> = {
  commander: ['cli'],
  undici: ['client/transport'],
  execa: ['media', 'engines'],
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
  valibot: ['base', 'protocol', 'batch', 'profiles', 'service', 'engines', 'media', 'commands', 'cli'],
  '@valibot/to-json-schema': ['protocol'],
  'prom-client': ['service'],
  '@modelcontextprotocol/server': ['commands/mcp'],
  ulid: ['protocol'],
  'sherpa-onnx-node': ['engines', 'media'],
  '@jitsi/rnnoise-wasm': ['engines'],
  'fft.js': ['engines'],
  'media-captions': ['media'],
  'ass-compiler': ['media'],
};

/**
 * Modules inside undici that its documentation does not name, because loading the whole package takes longer (see
 * docs/decisions/http-clients.md). Only this file may import them.
 */
const UNDICI_PARTS = {
  file: 'src/client/transport/http.ts',
  modules: ['undici/lib/api/api-request.js', 'undici/lib/dispatcher/agent.js'],
};

const modules = readModules('src');
const edges = modules.flatMap((from) => from.imports.map((found) => ({ from, ...found })));
const local = edges.flatMap(({ target, ...edge }) => (target === null ? [] : [{ ...edge, target }]));
const show = (found: readonly { from: { path: string }; specifier: string }[]) =>
  found.map(({ from, specifier }) => `${from.path} imports ${specifier}`);

describe('imports between folders', () => {
  it('go down only', () => {
    const wrong = local.filter(({ from, target }) => {
      const to = target.split('/')[1] ?? '';
      if (!target.startsWith('src/') || to === from.folder) return false;
      const isApart = APART.some(([one, other]) => one === from.folder && other === to);
      return isApart || ROOMS.indexOf(to) < ROOMS.indexOf(from.folder);
    });
    expect(show(wrong)).toEqual([]);
  });

  it('never leave the sources, except for the package file', () => {
    const outside = local.filter(({ target }) => !target.startsWith('src/') && target !== 'package.json');
    expect(show(outside)).toEqual([]);
  });

  it('let the service import only the front of the engines', () => {
    const behind = local.filter(
      ({ from, target }) => from.folder === 'service' && /^src\/engines\/.+\//.test(target),
    );
    expect(show(behind)).toEqual([]);
  });

  it('load the service when it is needed', () => {
    const eager = local.filter(
      ({ from, target, manner }) =>
        from.folder !== 'service' && target.startsWith('src/service/') && manner === 'eager',
    );
    expect(show(eager)).toEqual([]);
  });

  it('load the media work when it is needed', () => {
    const mediaWork = ['engines', 'media'];
    const eager = local.filter(
      ({ from, target, manner }) =>
        !mediaWork.includes(from.folder) && /^src\/(engines|media)\//.test(target) && manner === 'eager',
    );
    expect(show(eager)).toEqual([]);
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
});
