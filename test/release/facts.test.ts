import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  addBundled,
  findRepository,
  type PackageFile,
  publishedPackage,
  publishedReadme,
  readNotes,
  releaseChangelog,
  setVersion,
  withoutNotReleased,
} from '../../release/facts.ts';

const FILE: PackageFile = {
  name: 'vloc',
  version: '1.2.3',
  description: 'Video localization from the command line: more',
  license: 'MIT',
  author: 'The authors',
  scripts: { prepare: 'build' },
  devDependencies: { a: '1.0.0' },
  dependencies: { b: '1.0.0' },
};

describe('the repository', () => {
  it('is the one that GitHub runs the release for', () => {
    const env = { GITHUB_REPOSITORY: 'owner/vloc', GITHUB_SERVER_URL: 'https://git.example.com' };
    expect(findRepository({ env, remote: 'https://github.com/fork/vloc' })).toEqual({
      url: 'https://git.example.com/owner/vloc',
      owner: 'owner',
      name: 'vloc',
    });
  });

  it.each([
    'https://example.com/owner/vloc.git',
    'https://user:secret@example.com/owner/vloc',
    'git@example.com:owner/vloc.git',
    'ssh://git@example.com:2222/owner/vloc.git/',
  ])('is the git remote %s, without its user and password', (remote) => {
    expect(findRepository({ env: {}, remote })?.url).toBe('https://example.com/owner/vloc');
  });

  it.each([null, '/srv/git/vloc', '../vloc.git', 'file:///srv/vloc', 'http://example.com/a/b'])(
    'is unknown with the remote %s',
    (remote) => expect(findRepository({ env: {}, remote })).toBe(null),
  );
});

describe('the published package.json', () => {
  it('names the repository, as provenance demands, and the registry', () => {
    const repository = { url: 'https://example.com/owner/vloc', owner: 'owner', name: 'vloc' };
    expect(publishedPackage(FILE, repository, 'https://registry.example.com/')).toEqual({
      name: 'vloc',
      version: '1.2.3',
      description: FILE.description,
      license: 'MIT',
      author: 'The authors',
      dependencies: { b: '1.0.0' },
      repository: { type: 'git', url: 'git+https://example.com/owner/vloc.git' },
      bugs: { url: 'https://example.com/owner/vloc/issues' },
      homepage: 'https://example.com/owner/vloc#readme',
      publishConfig: { access: 'public', registry: 'https://registry.example.com/' },
    });
  });

  it('names no address without a repository', () => {
    const text = JSON.stringify(publishedPackage(FILE, null, 'https://registry.example.com/'));
    expect(text).not.toContain('http');
  });
});

describe('the README', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const readme = read('README.md');
  /** The lines in the code blocks of the section about the installation. */
  const commandsOf = (text: string) => {
    const [, section = ''] = /^## Install\n([\s\S]*?)^## /m.exec(text) ?? [];
    return [...section.matchAll(/^```(?:sh)?\n([\s\S]*?)```$/gm)].flatMap(([, block = '']) =>
      block.trim().split('\n'),
    );
  };

  it('starts with a command for a checkout, and with npx once it is published', () => {
    const inCheckout = [
      'npx vloc engines install --yes && npx vloc localize test/fixtures/sample.mp4 --to es --profile local --out demo',
      'npm test',
      'npx vloc models install --to es',
      'npm install --global .',
    ];
    expect(commandsOf(readme)).toEqual(inCheckout);
    const published = publishedReadme(readme);
    expect(commandsOf(published)).toEqual([
      'npx vloc localize talk.mp4 --to es',
      'npm install --global vloc',
      ...inCheckout,
    ]);
    expect(published).not.toMatch(/not on npm yet|before the first release|From the first release/);
    const rest = (text: string) => text.slice(text.indexOf('## Use it'));
    expect(rest(published)).toBe(rest(readme));
    // The release after the next one.
    expect(publishedReadme(published)).toBe(published);
  });

  it('must have a place for the new start', () => {
    expect(() => publishedReadme('# vloc\n\n## Install\n\nSomehow.\n')).toThrow('no place for the start');
  });

  it('no longer says that nothing was published, nor does the page about installing', () => {
    const page = withoutNotReleased(read('docs/install.md'));
    expect(page).not.toContain('Nothing has been published yet');
    expect(page).toContain('# Installing, upgrading, uninstalling\n\n`vloc engines install`');
  });
});

const CHANGELOG = '# Changelog\n\n## Unreleased\n\n### Added\n\n- New.\n\n## 1.2.3 - 2026-01-01\n\n- Old.\n';

describe('the changelog', () => {
  it('contains the notes of a version, or what is not released yet', () => {
    expect(readNotes(CHANGELOG, '1.2.3')).toBe('- Old.');
    expect(readNotes(CHANGELOG, '1.2.30')).toBe('### Added\n\n- New.');
    expect(readNotes('# Changelog\n', '1.0.0')).toBe(null);
  });

  it('gets a section for the new version below an empty one', () => {
    const next = releaseChangelog(CHANGELOG, '1.3.0', '2026-11-23');
    expect(next).toContain(
      '## Unreleased\n\n## 1.3.0 - 2026-11-23\n\n### Added\n\n- New.\n\n## 1.2.3 - 2026-01-01',
    );
    expect(readNotes(next, '1.3.0')).toBe('### Added\n\n- New.');
    expect(() => releaseChangelog(next, '1.3.0', '2026-11-24')).toThrow('already has a section for 1.3.0');
  });

  it('is refused if nothing changed', () => {
    expect(() => releaseChangelog('## Unreleased\n\n## 1.0.0\n\n- x\n', '1.1.0', '2026-11-23')).toThrow(
      'no changes',
    );
  });
});

it('the version is changed for the package itself only', () => {
  const lock = '{"version": "1.2.3","lockfileVersion": 3,"":{"version": "1.2.3"},"dep":{"version": "1.2.3"}}';
  expect(setVersion(lock, '1.2.3', '2.0.0')).toBe(
    '{"version": "2.0.0","lockfileVersion": 3,"":{"version": "2.0.0"},"dep":{"version": "1.2.3"}}',
  );
  expect(setVersion('{"version": "1.2.3", "x": {"version": "1.2.3"}}', '1.2.3', '2.0.0')).toBe(
    '{"version": "2.0.0", "x": {"version": "1.2.3"}}',
  );
});

describe('the bill of materials', () => {
  it('names packages whose code is part of the files of vloc, each once', () => {
    const ulid = { 'bom-ref': 'ulid@3.0.2', type: 'library', name: 'ulid', version: '3.0.2' };
    const bill = { serialNumber: 'random', metadata: { timestamp: 'now', tools: [] }, components: [ulid] };
    const other = { 'bom-ref': '@a/b@1.0.0', type: 'library', name: '@a/b', version: '1.0.0' };
    const made = addBundled(bill, { components: [other, ulid] }, 0);
    expect(made.components).toEqual([ulid, other]);
    expect(made.metadata).toEqual({ timestamp: '1970-01-01T00:00:00.000Z', tools: [] });
    expect(made).not.toHaveProperty('serialNumber');
  });
});
