import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { PackageFile } from '../../release/facts.ts';
import { createManifests } from '../../release/manifests.ts';
import { archiveName, PLATFORMS } from '../../release/table.ts';

const FILE: PackageFile = {
  version: '1.2.3',
  description: 'Video localization from the command line: give it a video',
  license: 'MIT',
  author: 'The authors',
};
const REPOSITORY = { url: 'https://git.example.com/owner/vloc', owner: 'owner', name: 'vloc' };
/** A different checksum for each archive. */
const CHECKSUMS = Object.fromEntries(
  PLATFORMS.map((platform, index) => [archiveName(platform, FILE.version).file, String(index).repeat(64)]),
);

function textOf(path: string, checksums = CHECKSUMS, file = FILE): string {
  const found = createManifests({ file, repository: REPOSITORY, checksums }).find(
    (manifest) => manifest.path === path,
  );
  return found?.text ?? '';
}

const base = 'https://git.example.com/owner/vloc/releases/download/v1.2.3';

describe('the formula of Homebrew', () => {
  const text = textOf('homebrew/vloc.rb');

  it('has each system with the address and checksum of its archive', () => {
    const found = [...text.matchAll(/(on_\w+) do\n\s+url "(.*)"\n\s+sha256 "(\d)\d{63}"\n/g)].map(
      ([, cpu, url, sum]) => [cpu, url, sum],
    );
    expect(found).toEqual([
      ['on_intel', `${base}/vloc-1.2.3-macos-x64.tar.gz`, '2'],
      ['on_arm', `${base}/vloc-1.2.3-macos-arm64.tar.gz`, '3'],
      ['on_intel', `${base}/vloc-1.2.3-linux-x64.tar.gz`, '0'],
      ['on_arm', `${base}/vloc-1.2.3-linux-arm64.tar.gz`, '1'],
    ]);
  });

  it('has the system of each archive around it, macOS first as brew style wants', () => {
    const order = [...text.matchAll(/on_(?:macos|linux)|(?<=vloc-1\.2\.3-)[a-z]+/g)].map(([word]) => word);
    expect(order).toEqual(['on_macos', 'macos', 'macos', 'on_linux', 'linux', 'linux']);
  });

  it('describes vloc within the rules of brew style', () => {
    const { description: whole } = JSON.parse(
      readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
    );
    const made = textOf('homebrew/vloc.rb', CHECKSUMS, { ...FILE, description: whole });
    const [, description = ''] = /^ {2}desc "(.*)"$/m.exec(made) ?? [];
    expect(description).toMatch(/^[A-Z].{0,78}[^.]$/);
    expect(description).not.toMatch(/^(the|an?|vloc)\b|command ?line/i);
  });
});

it('the manifest of Scoop finds the next version by itself', () => {
  const manifest = JSON.parse(textOf('scoop/vloc.json'));
  expect(manifest.architecture).toEqual({
    '64bit': {
      url: `${base}/vloc-1.2.3-windows-x64.zip`,
      hash: '4'.repeat(64),
      extract_dir: 'vloc-1.2.3-windows-x64',
    },
  });
  expect(manifest.autoupdate.architecture['64bit']).toEqual({
    url: 'https://git.example.com/owner/vloc/releases/download/v$version/vloc-$version-windows-x64.zip',
    extract_dir: 'vloc-$version-windows-x64',
  });
  expect(manifest).toMatchObject({
    version: '1.2.3',
    bin: 'vloc.exe',
    license: 'MIT',
    homepage: REPOSITORY.url,
  });
});

it('the three manifests of winget belong together', () => {
  const names = ['', '.locale.en-US', '.installer'];
  const texts = names.map((name) => textOf(`winget/owner.vloc${name}.yaml`));
  for (const text of texts) {
    expect(text).toContain('PackageIdentifier: "owner.vloc"\nPackageVersion: "1.2.3"\n');
    // A key is not given twice, which YAML forbids.
    const keys = [...text.matchAll(/^(\w+):/gm)].map((match) => match[1]);
    expect(new Set(keys).size).toBe(keys.length);
  }
  expect(texts.map((text) => /^ManifestType: (.*)$/m.exec(text)?.[1])).toEqual([
    'version',
    'defaultLocale',
    'installer',
  ]);
  for (const text of texts) {
    const [, type, version] =
      /^# yaml-language-server: \$schema=https:\/\/aka\.ms\/winget-manifest\.(\w+)\.(.*)\.schema\.json\n/.exec(
        text,
      ) ?? [];
    expect(text.endsWith(`ManifestType: ${type}\nManifestVersion: ${version}\n`)).toBe(true);
    // Others are refused where it is published.
    expect(version).toBe('1.12.0');
  }
  expect(texts[1]).toContain('Moniker: vloc\n');
  expect(texts[2]).toContain(`InstallerUrl: "${base}/vloc-1.2.3-windows-x64.zip"`);
  expect(texts[2]).toContain(`RelativeFilePath: 'vloc-1.2.3-windows-x64\\vloc.exe'`);
});

describe('the PKGBUILD of the AUR', () => {
  it('is a script that bash understands, and has the sources of both processors', () => {
    const text = textOf('aur/PKGBUILD');
    const printed = execFileSync(
      'bash',
      ['-c', `${text}\necho "$pkgname $pkgver \${arch[*]} \${source_aarch64[0]} \${sha256sums_aarch64[0]}"`],
      { encoding: 'utf8' },
    );
    expect(printed.trim()).toBe(
      `vloc-bin 1.2.3 x86_64 aarch64 ${base}/vloc-1.2.3-linux-arm64.tar.gz ${'1'.repeat(64)}`,
    );
  });

  it('names the engines that Arch has', () => {
    expect(textOf('aur/PKGBUILD')).toContain(
      'optdepends=("ffmpeg: reads and writes video and sound" "flite: speaks English, clearer than espeak-ng" "espeak-ng: speaks text in more than a hundred languages")\n',
    );
  });

  // Compared with vercmp: 1.0.0alpha.1 < 1.0.0pre2 < 1.0.0rc.1 < 1.0.0 < 1.0.0_rc.1.
  it.each([
    ['1.0.0', '1.0.0'],
    ['1.0.0-rc.1', '1.0.0rc.1'],
    ['1.0.0-2', '1.0.0pre2'],
  ])('has for %s the version %s, which pacman orders the same', (version, pkgver) => {
    const checksums = { [`vloc-${version}-linux-x64.tar.gz`]: '0'.repeat(64) };
    const made = createManifests({ file: { ...FILE, version }, repository: REPOSITORY, checksums });
    for (const [path, line] of [
      ['aur/PKGBUILD', `pkgver="${pkgver}"`],
      ['aur/.SRCINFO', `\tpkgver = ${pkgver}`],
    ]) {
      expect(made.find((manifest) => manifest.path === path)?.text.split('\n')).toContain(line);
    }
  });
});

it('a package manager without any archive gets no manifest', () => {
  const windows = archiveName(PLATFORMS[4] ?? expect.fail('no row'), FILE.version).file;
  const made = createManifests({
    file: FILE,
    repository: REPOSITORY,
    checksums: { [windows]: '4'.repeat(64) },
  });
  expect(made.map(({ path }) => path.split('/')[0])).toEqual(['scoop', 'winget', 'winget', 'winget']);
});

it('a text that a manifest would interpret is refused', () => {
  const file = { ...FILE, license: 'MIT"; system("x")' };
  expect(() => createManifests({ file, repository: REPOSITORY, checksums: CHECKSUMS })).toThrow(
    'cannot be put into a manifest',
  );
});
