/** The package itself: what is in it, what it says of itself, and the ways to install it. */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build as esbuild } from 'esbuild';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import webpack from 'webpack';
import { compareContents } from '../../release/table.ts';
import { json, startServer } from '../client/support/scripted-server.ts';
import { awaitPacked } from './install.ts';
import { finish, type Installation, openInstallation } from './packed.ts';

const MiB = 2 ** 20;

const tool = (name: string) => fileURLToPath(new URL(`../../node_modules/.bin/${name}`, import.meta.url));
let tarball: string;
let root: string;
beforeAll(async () => {
  tarball = (await awaitPacked()).tarball;
  root = mkdtempSync(join(tmpdir(), 'vloc-package-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Above that, somebody has added something large; the model of the separation alone has 2.2, and the server of `vloc mcp` 0.2. */
const LARGEST_MIB = 5;

describe('the tarball', () => {
  const list = () =>
    execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map((path) => path.replace('package/', ''));

  it('contains the code and its documentation, and nothing else', () => {
    expect(compareContents(list())).toEqual({ extra: [], missing: [] });
  });

  it(`has at most ${LARGEST_MIB} MiB`, () => {
    expect(readFileSync(tarball).byteLength / MiB).toBeLessThan(LARGEST_MIB);
  });

  it('names every package whose code is in it, with its license', () => {
    const folder = join(root, 'unpacked');
    mkdirSync(folder);
    execFileSync('tar', ['-xzf', tarball, '-C', folder]);
    const licenses = readFileSync(join(folder, 'package/dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
    const code = list()
      .filter((path) => /^dist\/[\w-]+\.c?js$/.test(path))
      .map((path) => readFileSync(join(folder, 'package', path), 'utf8'))
      .join('\n');
    const names = [
      ...code.matchAll(/^\s*\/\/(?:#region)? \S*node_modules\/((?:@[\w.-]+\/)?[\w.-]+)\//gm),
    ].map((match) => match[1]);
    expect(names.length).toBeGreaterThan(20);
    const missing = [...new Set(names)].filter((name) => !new RegExp(`^${name} \\d`, 'm').test(licenses));
    expect(missing).toEqual([]);
    expect(licenses).toContain('silero');
    const bill = JSON.parse(readFileSync(join(folder, 'package/dist/bom.cdx.json'), 'utf8'));
    const components: { name: string; purl: string }[] = bill.components;
    expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining([...new Set(names)]));
    for (const { purl } of components) expect(purl).toMatch(/^pkg:npm\/(%40[\w.-]+\/)?[\w.-]+@\d/);
  });
});

describe('a program in TypeScript that uses the package', () => {
  let project: string;
  beforeAll(() => {
    project = join(root, 'consumer');
    mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
    execFileSync('tar', ['-xzf', tarball, '-C', join(project, 'node_modules')]);
    execFileSync('mv', [join(project, 'node_modules/package'), join(project, 'node_modules/vloc')]);
    // What such a project has anyway.
    for (const name of ['@types/node', 'undici-types']) {
      const from = fileURLToPath(new URL(`../../node_modules/${name}`, import.meta.url));
      execFileSync('cp', ['-r', from, join(project, 'node_modules', name)]);
    }
    copyFileSync(fileURLToPath(new URL('consumer.ts.txt', import.meta.url)), join(project, 'consumer.ts'));
  });

  it('compiles strictly, including declarations', () => {
    const compilerOptions = {
      ...{ module: 'nodenext', target: 'es2023', lib: ['es2023'], types: ['node'], noEmit: true },
      ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false },
    };
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['consumer.ts'] }),
    );
    const printed = execFileSync('sh', ['-c', `"${tool('tsc')}" -p . || true`], {
      cwd: project,
      encoding: 'utf8',
    });
    expect(printed).toBe('');
  });

  /** The whole client has more, most of it undici. */
  const LARGEST_RECEIVER_BYTES = 100_000;

  it('becomes a small file that runs, bundled with verifyWebhook alone', async () => {
    const input = join(project, 'receiver.js');
    writeFileSync(
      input,
      `import { verifyWebhook } from 'vloc';
try { verifyWebhook({ body: '', headers: {} }, { secret: 's' }); } catch (error) { console.log(error.code); }`,
    );
    const file = join(root, 'receiver.mjs');
    const bundle = await rolldown({ input, platform: 'node' });
    await bundle.write({ file, format: 'esm' });
    await bundle.close();
    expect(readFileSync(file).byteLength).toBeLessThan(LARGEST_RECEIVER_BYTES);
    expect(execFileSync(process.execPath, [file], { encoding: 'utf8' })).toBe('WEBHOOK_FORM_INVALID\n');
  });

  type Bundler = (input: string, folder: string) => Promise<unknown>;
  /** As each has it by default: a file of CommonJS, and modules. */
  const BUNDLERS: Readonly<Record<string, Bundler>> = {
    'esbuild as cjs': (input, folder) =>
      esbuild({
        ...{ entryPoints: [input], bundle: true, platform: 'node', format: 'cjs', logLevel: 'silent' },
        ...{ outdir: folder, outExtension: { '.js': '.cjs' } },
      }),
    'webpack as esm': async (input, folder) => {
      const compiler = webpack({
        entry: { program: input },
        target: 'node22',
        mode: 'production',
        output: { path: folder, filename: '[name].mjs', module: true, library: { type: 'module' } },
        experiments: { outputModule: true },
        // Minimizing takes half a minute, and is not about imports.
        optimization: { minimize: false },
      });
      const stats = await promisify<webpack.Stats | undefined>((done) => compiler.run(done))();
      expect(stats?.toString({ all: false, errors: true, warnings: true })).toBe('');
    },
  };

  it.each(Object.entries(BUNDLERS))(
    'calls a service and verifies webhooks, bundled by %s',
    async (name, bundle) => {
      const service = await startServer(json(200, { object: 'list', data: [], has_more: false }));
      onTestFinished(service.close);
      const input = join(project, 'program.js');
      writeFileSync(
        input,
        `import { createClient } from 'vloc';
import { verifyWebhook } from 'vloc/webhooks';
const client = createClient({ baseUrl: process.argv[2], key: 'k', secret: 's' });
client.jobs.list('dubbing').then(({ object }) => console.log(object, typeof verifyWebhook)).finally(client.close);`,
      );
      const folder = join(root, name);
      await bundle(input, folder);
      const program = join(folder, readdirSync(folder).find((file) => /^program\./.test(file)) ?? '');
      const { stdout, stderr } = await finish(process.execPath, [program, service.baseUrl], root, {});
      expect([stdout, stderr]).toEqual(['list function\n', '']);
    },
  );
});

describe('an installation', () => {
  let vloc: Installation;
  beforeAll(async () => {
    vloc = await openInstallation();
  });
  afterAll(() => vloc.remove());

  it('runs from a global prefix, and includes its manual page and completions', async () => {
    const { code, stdout } = await vloc.run('--version');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
    expect(existsSync(join(vloc.program, '../../share/man/man1/vloc.1'))).toBe(true);
    expect((await vloc.run('completion', 'zsh')).stdout).toContain('#compdef vloc');
  });

  it('works with a home folder that cannot be written', async () => {
    // No folder can be made there, not even by root.
    const home = { HOME: '/sys' };
    for (const args of [['completion', 'complete', '--', 'profile', 'use', ''], ['credits']]) {
      const { code, stderr } = await vloc.runWith(home, ...args);
      expect(code, `${args}: ${stderr}`).toBe(0);
    }
  });

  it('names the folder if its state cannot be written', async () => {
    const { code, stderr } = await vloc.runWith({ VLOC_STATE_DIR: '/sys/vloc' }, 'credits');
    expect([4, 10]).toContain(code);
    expect(stderr).not.toContain('    at ');
    expect(stderr).toContain('/sys/vloc');
  });
});
