/** The files for Homebrew, Scoop, winget and the AUR: pure functions of the release's files. */
import { ENGINES } from '../src/engines/catalog.ts';
import { downloadAddress, type PackageFile, type Repository } from './facts.ts';
import { archiveName, PLATFORMS, type Platform, programName } from './table.ts';

export interface ManifestFacts {
  readonly file: PackageFile;
  readonly repository: Repository;
  /** SHA-256 of each archive, by the name of the file. A platform without one is skipped. */
  readonly checksums: Readonly<Record<string, string>>;
}

interface Manifest {
  /** Below the folder `manifests`. */
  readonly path: string;
  readonly text: string;
}

interface Download {
  readonly platform: Platform;
  readonly folder: string;
  readonly url: string;
  readonly sha256: string;
}

/** All manifests of a release; a package manager without an archive for one of its systems gets none. */
export function createManifests(facts: ManifestFacts): Manifest[] {
  const { version } = facts.file;
  const downloads = PLATFORMS.flatMap((platform): Download[] => {
    const { folder, file } = archiveName(platform, version);
    const sha256 = facts.checksums[file];
    return sha256 === undefined
      ? []
      : [{ platform, folder, url: downloadAddress(facts.repository, version, file), sha256 }];
  });
  const of = (key: 'homebrew' | 'aur' | 'windows') =>
    downloads.filter(({ platform }) => platform[key] !== undefined);
  return [
    ...when(of('homebrew'), (found) => homebrew(facts, found)),
    ...when(of('windows'), (found) => [...scoop(facts, found), ...winget(facts, found)]),
    ...when(of('aur'), (found) => aur(facts, found)),
  ];
}

function when(downloads: readonly Download[], make: (found: readonly Download[]) => Manifest[]): Manifest[] {
  return downloads.length === 0 ? [] : make(downloads);
}

/** A description as package managers want it: no full sentence, no name. */
function shortDescription({ description }: PackageFile): string {
  return description.split(':')[0] ?? description;
}

/** A text in double quotes for Ruby, YAML and the shell; none of ours may contain what they interpret. */
function quote(text: string): string {
  if (/["\\$`#\n]/.test(text)) throw new Error(`this text cannot be put into a manifest: ${text}`);
  return `"${text}"`;
}

/** In the order that `brew style` expects. */
const HOMEBREW_SYSTEMS = ['on_macos', 'on_linux'] as const;

function homebrew({ file, repository }: ManifestFacts, downloads: readonly Download[]): Manifest[] {
  const systems = HOMEBREW_SYSTEMS.filter((system) =>
    downloads.some(({ platform }) => platform.homebrew?.os === system),
  );
  const blocks = systems.flatMap((system) => [
    `  ${system} do`,
    ...downloads
      .filter(({ platform }) => platform.homebrew?.os === system)
      .flatMap(({ platform, url, sha256 }) => [
        `    ${platform.homebrew?.cpu} do`,
        `      url ${quote(url)}`,
        `      sha256 ${quote(sha256)}`,
        '    end',
      ]),
    '  end',
    '',
  ]);
  const text = `class Vloc < Formula
  desc ${quote(shortDescription(file))}
  homepage ${quote(repository.url)}
  version ${quote(file.version)}
  license ${quote(file.license)}

${blocks.join('\n')}
  def install
    libexec.install Dir["*"]
    bin.install_symlink libexec/"vloc"
    man1.install_symlink libexec/"lib/man/vloc.1"
    bash_completion.install_symlink libexec/"lib/completions/vloc.bash" => "vloc"
    zsh_completion.install_symlink libexec/"lib/completions/_vloc"
    fish_completion.install_symlink libexec/"lib/completions/vloc.fish"
  end

  def caveats
    "Run: vloc engines install  (installs ffmpeg and the engines that localize on this machine)"
  end

  test do
    assert_equal version.to_s, shell_output("#{bin}/vloc --version").strip
  end
end
`;
  return [{ path: 'homebrew/vloc.rb', text }];
}

function scoop({ file, repository }: ManifestFacts, downloads: readonly Download[]): Manifest[] {
  const architecture = Object.fromEntries(
    downloads.map(({ platform, url, sha256, folder }) => [
      platform.windows?.scoop,
      { url, hash: sha256, extract_dir: folder },
    ]),
  );
  const { version, license } = file;
  const manifest = {
    version,
    description: shortDescription(file),
    homepage: repository.url,
    license,
    architecture,
    bin: 'vloc.exe',
    notes: 'Run: vloc engines install  (installs ffmpeg and the engines that localize on this machine)',
    checkver: { github: repository.url },
    autoupdate: {
      architecture: Object.fromEntries(
        downloads.map(({ platform, url, folder }) => [
          platform.windows?.scoop,
          { url: url.replaceAll(version, '$version'), extract_dir: folder.replaceAll(version, '$version') },
        ]),
      ),
    },
  };
  return [{ path: 'scoop/vloc.json', text: `${JSON.stringify(manifest, null, 4)}\n` }];
}

/** The version of the manifests' schema: the one that the packages of winget-pkgs have. In 2026 it refused 1.6.0 and 1.28.0. */
const WINGET_SCHEMA = '1.12.0';

function winget({ file, repository }: ManifestFacts, downloads: readonly Download[]): Manifest[] {
  const id = `${repository.owner}.vloc`;
  const make = (type: string, name: string, lines: readonly string[]): Manifest => ({
    path: `winget/${id}${name}.yaml`,
    text: [
      `# yaml-language-server: $schema=https://aka.ms/winget-manifest.${type}.${WINGET_SCHEMA}.schema.json`,
      `PackageIdentifier: ${quote(id)}`,
      `PackageVersion: ${quote(file.version)}`,
      ...lines,
      `ManifestType: ${type}`,
      `ManifestVersion: ${WINGET_SCHEMA}`,
      '',
    ].join('\n'),
  });
  return [
    make('version', '', ['DefaultLocale: en-US']),
    make('defaultLocale', '.locale.en-US', [
      'PackageLocale: en-US',
      `Publisher: ${quote(file.author)}`,
      'PackageName: vloc',
      'Moniker: vloc',
      `PackageUrl: ${quote(repository.url)}`,
      `License: ${quote(file.license)}`,
      `ShortDescription: ${quote(shortDescription(file))}`,
    ]),
    make('installer', '.installer', [
      'InstallerType: zip',
      'NestedInstallerType: portable',
      'Installers:',
      ...downloads.flatMap(({ platform, url, sha256, folder }) => [
        `- Architecture: ${platform.windows?.winget}`,
        `  InstallerUrl: ${quote(url)}`,
        `  InstallerSha256: ${sha256.toUpperCase()}`,
        '  NestedInstallerFiles:',
        `  - RelativeFilePath: '${folder}\\${programName(platform)}'`,
        '    PortableCommandAlias: vloc',
      ]),
    ]),
  ];
}

function aur({ file, repository }: ManifestFacts, downloads: readonly Download[]): Manifest[] {
  const name = 'vloc-bin';
  // What makepkg reads, in the order in which it prints it.
  const fields: readonly (readonly [key: string, value: string | readonly string[]])[] = [
    ['pkgdesc', shortDescription(file)],
    ['pkgver', aurVersion(file.version)],
    ['pkgrel', '1'],
    ['url', repository.url],
    ['arch', downloads.map(({ platform }) => platform.aur ?? '')],
    ['license', [file.license]],
    ['depends', ['gcc-libs', 'glibc']],
    [
      'optdepends',
      ENGINES.flatMap(({ purpose, install }) => (install.arch ?? []).map((found) => `${found}: ${purpose}`)),
    ],
    ['provides', ['vloc']],
    ['conflicts', ['vloc']],
    ['options', ['!strip']],
    ...downloads.flatMap(({ platform, url, sha256 }): [string, string[]][] => [
      [`source_${platform.aur}`, [url]],
      [`sha256sums_${platform.aur}`, [sha256]],
    ]),
  ];
  const assignments = fields.map(
    ([key, value]) =>
      `${key}=${typeof value === 'string' ? quote(value) : `(${value.map(quote).join(' ')})`}`,
  );
  const folders = downloads.map(({ platform, folder }) => `    ${platform.aur}) folder=${quote(folder)} ;;`);
  const text = `# Not stripped: that would remove the script in the program.
pkgname=${quote(name)}
${assignments.join('\n')}

package() {
  local folder
  case "$CARCH" in
${folders.join('\n')}
  esac
  install -d "$pkgdir/usr/lib/vloc" "$pkgdir/usr/bin"
  cp -r --no-preserve=ownership "$srcdir/$folder/." "$pkgdir/usr/lib/vloc/"
  echo aur > "$pkgdir/usr/lib/vloc/lib/installed-by"
  ln -s ../lib/vloc/vloc "$pkgdir/usr/bin/vloc"
  cd "$srcdir/$folder"
  install -Dm644 LICENSE "$pkgdir/usr/share/licenses/$pkgname/LICENSE"
  install -Dm644 lib/man/vloc.1 "$pkgdir/usr/share/man/man1/vloc.1"
  install -Dm644 lib/completions/vloc.bash "$pkgdir/usr/share/bash-completion/completions/vloc"
  install -Dm644 lib/completions/_vloc "$pkgdir/usr/share/zsh/site-functions/_vloc"
  install -Dm644 lib/completions/vloc.fish "$pkgdir/usr/share/fish/vendor_completions.d/vloc.fish"
}
`;
  const lines = fields.flatMap(([key, value]) => [value].flat().map((one) => `\t${key} = ${one}`));
  return [
    { path: 'aur/PKGBUILD', text },
    { path: 'aur/.SRCINFO', text: `pkgbase = ${name}\n${lines.join('\n')}\n\npkgname = ${name}\n` },
  ];
}

/** `1.0.0-rc.1` without the hyphen, which pacman forbids: only letters directly after the number come before `1.0.0` (vercmp(8)). */
function aurVersion(version: string): string {
  return version.replace(/-(?=\d)/, 'pre').replace('-', '');
}
