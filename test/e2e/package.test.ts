/** The package itself: what is in it, what it says of itself, and the ways to install it. */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild-wasm';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareContents } from '../../release/table.ts';
import { ffmpeg } from '../engines/workspace.ts';
import { awaitPacked, npm } from './install.ts';
import { finish, SAMPLE } from './packed.ts';

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

  it('is clean for publint and for Are The Types Wrong', () => {
    const check = (name: string, ...args: string[]) =>
      execFileSync(tool(name), args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    expect(check('publint', 'run', tarball, '--strict')).toContain('All good!');
    expect(check('attw', tarball, '--profile', 'esm-only')).toContain('"vloc/service"');
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

  it.each([
    ['nodenext', 'nodenext', true],
    ['esnext', 'bundler', true],
    ['esnext', 'bundler', false],
  ])(
    'compiles strictly, including declarations, with module %s, resolution %s and exact optional properties %s',
    (module, moduleResolution, exactOptionalPropertyTypes) => {
      const compilerOptions = {
        ...{ module, moduleResolution, target: 'es2023', lib: ['es2023'], types: ['node'], noEmit: true },
        ...{ strict: true, exactOptionalPropertyTypes, skipLibCheck: false },
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
    },
  );

  const BUNDLERS = {
    async esbuild(entry: string, outfile: string) {
      await build({ entryPoints: [entry], outfile, bundle: true, format: 'esm', platform: 'node' });
    },
    async rolldown(entry: string, file: string) {
      const bundle = await rolldown({ input: entry, platform: 'node' });
      await bundle.write({ file, format: 'esm' });
      await bundle.close();
    },
  };
  /** The whole client has more, most of it undici. */
  const LARGEST_RECEIVER_BYTES = 100_000;

  it.each([
    ['esbuild', 'vloc'],
    ['esbuild', 'vloc/webhooks'],
    ['rolldown', 'vloc'],
    ['rolldown', 'vloc/webhooks'],
  ] as const)(
    'becomes a small file that runs, bundled by %s with verifyWebhook from %s',
    async (bundler, entry) => {
      const source = join(project, 'receiver.js');
      writeFileSync(
        source,
        `import { verifyWebhook } from '${entry}';
try { verifyWebhook({ body: '', headers: {} }, { secret: 's' }); } catch (error) { console.log(error.code); }`,
      );
      const bundled = join(root, `${bundler}-${entry.replace('/', '-')}.mjs`);
      await BUNDLERS[bundler](source, bundled);
      expect(readFileSync(bundled).byteLength).toBeLessThan(LARGEST_RECEIVER_BYTES);
      expect(execFileSync(process.execPath, [bundled], { encoding: 'utf8' })).toBe('WEBHOOK_FORM_INVALID\n');
    },
  );
});

describe('an installation', () => {
  /** Blanks and letters beyond ASCII in every path. */
  let prefix: string;
  let folder: string;
  let env: Record<string, string>;
  beforeAll(() => {
    prefix = join(root, 'Präfix mit Leerzeichen 字幕');
    folder = join(root, 'my vidéos');
    mkdirSync(folder);
    // What is heard in a whole video is the subject of other files.
    ffmpeg('-i', SAMPLE, '-t', '2', '-c', 'copy', join(folder, 'lección 1.mp4'));
    npm(['install', '--global', '--prefix', prefix, tarball], root);
    env = { PATH: `${join(prefix, 'bin')}:${process.env.PATH}`, HOME: folder, LANG: 'C.UTF-8' };
  });
  const run = (more: Record<string, string>, ...args: string[]) =>
    finish(join(prefix, 'bin/vloc'), args, folder, { ...env, ...more });

  it('runs from a global prefix, and includes its manual page and completions', async () => {
    const { code, stdout } = await run({}, '--version');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
    expect(existsSync(join(prefix, 'share/man/man1/vloc.1'))).toBe(true);
    const script = await run({}, 'completion', 'zsh');
    expect(script.stdout).toContain('#compdef vloc');
  });

  it('works with blanks and letters beyond ASCII in file names', async () => {
    const { code, stderr } = await run({ VLOC_STATE_DIR: join(root, 'état 1') }, 'separate', 'lección 1.mp4');
    expect(code, stderr).toBe(0);
    expect(existsSync(join(folder, 'lección 1.vocals.wav'))).toBe(true);
  });

  it('works with a home folder that cannot be written', async () => {
    // No folder can be made there, not even by root.
    const home = { HOME: '/sys' };
    for (const args of [['--help'], ['completion', 'values', 'profiles'], ['profile', 'list']]) {
      const { code, stderr } = await run(home, ...args);
      expect(code, `${args}: ${stderr}`).toBe(0);
    }
    const elsewhere = await run({ ...home, VLOC_STATE_DIR: join(root, 'state') }, 'credits');
    expect(elsewhere.code, elsewhere.stderr).toBe(0);
  });

  it('names the folder if its state cannot be written', async () => {
    const { code, stderr } = await run({ HOME: '/sys' }, 'credits');
    expect([4, 10]).toContain(code);
    expect(stderr).not.toContain('    at ');
    expect(stderr).toContain('/sys/.local/state/vloc');
  });

  it('runs from npx in an empty folder', () => {
    const empty = join(root, 'empty');
    mkdirSync(empty);
    expect(npm(['exec', '--yes', `--package=${tarball}`, '--', 'vloc', '--version'], empty)).toMatch(
      /^\d+\.\d+/,
    );
  });
});
