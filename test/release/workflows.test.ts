import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NODE_VERSION } from '../../release/table.ts';

const project = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, project), 'utf8');
const paths = [
  'action.yml',
  ...readdirSync(new URL('.github/workflows', project)).map((name) => `.github/workflows/${name}`),
];

describe.each(paths)('%s', (path) => {
  it('refers to actions of others by commit, and has their version for readers', () => {
    const uses = [...read(path).matchAll(/^\s*(?:- )?uses: (.*)$/gm)].map(([, name = '']) => name);
    const unpinned = uses.filter((name) => !/^(\.\/.*|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/.test(name));
    expect(unpinned).toEqual([]);
  });

  it('installs what the lock file names', () => {
    // Not what a user of the action asks for: a version of vloc.
    const lines = read(path)
      .split('\n')
      .filter((line) => /run: npm install/.test(line));
    expect(lines).toEqual([]);
  });
});

it('the release runs the scripts that only Windows can run', () => {
  const scripts = readdirSync(new URL('test/install', project))
    .filter((name) => name.endsWith('.ps1') && name !== 'tools.ps1')
    .map((name) => `./test/install/${name}`);
  const run = [...read('.github/workflows/release.yml').matchAll(/\.\/test\/install\/\w+\.ps1/g)].map(
    ([name]) => name,
  );
  expect(run.sort()).toEqual(scripts.sort());
});

it('the archives contain the Node of the checkout, on the runners too', () => {
  const lock = JSON.parse(read('package-lock.json'));
  expect(lock.packages['node_modules/node'].version).toBe(NODE_VERSION);
  const versions = [...read('.github/workflows/release.yml').matchAll(/node-version: (.*)$/gm)].map(
    ([, found]) => found,
  );
  expect(new Set(versions)).toEqual(new Set([NODE_VERSION]));
});

it.each(['.github/workflows/ci.yml', '.github/workflows/release.yml'])(
  '%s tries the files that it made, although sudo removes variables',
  (path) => {
    const commands = [...read(path).matchAll(/run: (sudo .*test:install.*)$/gm)].map(
      ([, command]) => command,
    );
    expect(commands).toEqual(['sudo env "PATH=$PATH" CI=true npm run test:install']);
  },
);

it('the release tries the formula of Homebrew on Linux, where brew refuses root, and on macOS', () => {
  const [before = '', after = ''] = read('.github/workflows/release.yml').split('\n  try:\n');
  expect(before).toMatch(
    /run: PATH="\/home\/linuxbrew\/\.linuxbrew\/bin:\$PATH" npm run test:install homebrew\n/,
  );
  expect(after).toMatch(/if: runner\.os == 'macOS'\n\s+run: sh test\/install\/homebrew\.sh\n/);
});

it('the release keeps hidden files, such as .SRCINFO', () => {
  expect(read('.github/workflows/release.yml')).toMatch(/path: release-files\n\s+include-hidden-files: true/);
});
