/**
 * Makes the files of a release and checks them.
 *
 *   npm run release -- --dry-run [SYSTEM...]   the files of the version in package.json, for all or some systems; changes nothing in the checkout
 *   npm run release -- VERSION                 sets version and changelog first, and says what to do next
 *   npm run release -- --try                   runs the program of this system's archive, which is already there
 *   npm run release -- --manifests FOLDER      writes the manifests for the archives that are already there to another folder
 *
 * The other files are written to `release-files/`. Nothing is published: .github/workflows/release.yml does that.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildArchive } from './archive.ts';
import { findFaults, unpack } from './contents.ts';
import { buildDeb, debVersion } from './deb.ts';
import {
  addBundled,
  type BillOfMaterials,
  findRepository,
  type PackageFile,
  publishedPackage,
  publishedReadme,
  type Repository,
  readNotes,
  releaseChangelog,
  setVersion,
  withoutNotReleased,
} from './facts.ts';
import { createManifests } from './manifests.ts';
import { run } from './shell.ts';
import { archiveName, compareContents, PLATFORMS, type Platform, programName } from './table.ts';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const OUT = join(PROJECT, 'release-files');
const CHECKSUMS = join(OUT, 'SHA256SUMS');
const say = (text: string) => process.stdout.write(`${text}\n`);

try {
  main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function main(argv: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { 'dry-run': flag, try: flag, manifests: { type: 'string' } },
  });
  mkdirSync(OUT, { recursive: true });
  if (values.manifests !== undefined) return writeManifests(resolve(values.manifests));
  if (values.try) return tryHere();
  if (values['dry-run']) return makeAll(choose(positionals));
  const [version, ...more] = positionals;
  if (version === undefined || more.length > 0) {
    throw new Error('name the new version, such as 0.2.0, or use --dry-run');
  }
  setNewVersion(version);
  makeAll(PLATFORMS);
  say(
    `\nNext:\n  git commit -am "Release ${version}"\n  git tag v${version}\n  git push origin HEAD v${version}`,
  );
}

function choose(names: readonly string[]): readonly Platform[] {
  const unknown = names.filter((name) => !PLATFORMS.some((platform) => platform.name === name));
  if (unknown.length > 0) {
    throw new Error(
      `unknown system ${unknown.join(', ')}; there are ${PLATFORMS.map(({ name }) => name).join(', ')}`,
    );
  }
  return names.length === 0 ? PLATFORMS : PLATFORMS.filter(({ name }) => names.includes(name));
}

function makeAll(platforms: readonly Platform[]): void {
  // Files of another version would be published along with these.
  for (const name of readdirSync(OUT)) rmSync(join(OUT, name), { recursive: true });
  packNpm();
  buildArchives(platforms);
  finish();
}

function readPackage(): PackageFile {
  return JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as PackageFile; // our own file
}

function tarballPath({ version }: PackageFile): string {
  return join(OUT, `vloc-${version}.tgz`);
}

function repositoryOfHere(): Repository | null {
  return findRepository({ env: process.env, remote: gitOr(null, 'remote', 'get-url', 'origin') });
}

function gitOr<T>(fallback: T, ...args: string[]): string | T {
  try {
    return execFileSync('git', args, {
      cwd: PROJECT,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return fallback;
  }
}

/** The time of the commit: the same commit gives the same files. */
function epoch(): number {
  const { SOURCE_DATE_EPOCH = gitOr('', 'log', '-1', '--format=%ct') } = process.env;
  // 1980 is the earliest time of a zip file.
  return Math.max(Number(SOURCE_DATE_EPOCH), Date.UTC(1980, 0, 2) / 1000);
}

function setNewVersion(version: string): void {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
    throw new Error(`${version} is not a version such as 0.2.0`);
  const { version: old } = readPackage();
  const day = new Date().toISOString().slice(0, 10);
  const path = (name: string) => join(PROJECT, name);
  const changelog = releaseChangelog(readFileSync(path('CHANGELOG.md'), 'utf8'), version, day);
  for (const name of ['package.json', 'package-lock.json']) {
    writeFileSync(path(name), setVersion(readFileSync(path(name), 'utf8'), old, version));
  }
  writeFileSync(path('CHANGELOG.md'), changelog);
  writeFileSync(path('README.md'), publishedReadme(readFileSync(path('README.md'), 'utf8')));
  writeFileSync(path('docs/install.md'), withoutNotReleased(readFileSync(path('docs/install.md'), 'utf8')));
}

/** Builds and packs the checkout, adds the addresses, packs it again, and checks the result with the tools of its users. */
function packNpm(): void {
  const file = readPackage();
  const work = mkdtempSync(join(tmpdir(), 'vloc-release-'));
  try {
    say('npm package: building');
    const packed = run('npm', ['pack', '--pack-destination', work, '--silent'], { cwd: PROJECT });
    run('tar', ['-xzf', join(work, packed.trim().split('\n').at(-1) ?? ''), '-C', work], { cwd: work });
    const repository = repositoryOfHere();
    if (repository === null) {
      say(
        'npm package: no repository (neither GITHUB_REPOSITORY nor a git remote names one), so it has no addresses',
      );
    }
    const registry = run('npm', ['config', 'get', 'registry'], { cwd: PROJECT }).trim();
    const content = publishedPackage(file, repository, registry);
    writeFileSync(join(work, 'package/package.json'), `${JSON.stringify(content, null, 2)}\n`);
    const readme = join(work, 'package/README.md');
    writeFileSync(readme, publishedReadme(readFileSync(readme, 'utf8')));
    run('npm', ['pack', './package', '--ignore-scripts', '--silent', '--pack-destination', OUT], {
      cwd: work,
    });
    checkNpm(tarballPath(file));
    writeBill(file, work);
    writeNotes(file);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function checkNpm(tarball: string): void {
  const listed = run('tar', ['-tzf', tarball], { cwd: PROJECT }).trim().split('\n');
  const paths = listed.map((path) => path.replace('package/', ''));
  const { extra, missing } = compareContents(paths);
  if (extra.length > 0) throw new Error(`the npm package has unexpected files: ${extra.join(', ')}`);
  if (missing.length > 0) throw new Error(`the npm package has no file for ${missing.join(', ')}`);
  const tool = (name: string) => join(PROJECT, 'node_modules/.bin', name);
  run(tool('publint'), ['run', tarball, '--strict'], { cwd: PROJECT });
  run(tool('attw'), [tarball, '--profile', 'esm-only'], { cwd: PROJECT });
  say(`npm package: ${paths.length} files, publint and attw find nothing wrong`);
}

/** What npm installs with vloc, and what is part of its files, as CycloneDX. */
function writeBill(file: PackageFile, work: string): void {
  const options = ['--package-lock-only', '--omit', 'dev', '--sbom-format', 'cyclonedx', '--silent'];
  const printed = run('npm', ['sbom', ...options], { cwd: PROJECT });
  const bundled = JSON.parse(readFileSync(join(work, 'package/dist/bom.cdx.json'), 'utf8'));
  const bill = addBundled(JSON.parse(printed) as BillOfMaterials, bundled, epoch()); // printed by npm
  writeFileSync(join(OUT, `vloc-${file.version}.cdx.json`), `${JSON.stringify(bill, null, 2)}\n`);
  say(`bill of materials: ${bill.components.length} packages`);
}

function writeNotes({ version }: PackageFile): void {
  const notes = readNotes(readFileSync(join(PROJECT, 'CHANGELOG.md'), 'utf8'), version);
  if (notes === null) throw new Error(`CHANGELOG.md says nothing about ${version}`);
  writeFileSync(join(OUT, 'NOTES.md'), `${notes}\n`);
}

function buildArchives(platforms: readonly Platform[]): void {
  const file = readPackage();
  for (const platform of platforms) {
    const order = { platform, version: file.version, tarball: tarballPath(file), out: OUT, epoch: epoch() };
    say(`archive ${platform.name}: ${checkArchive(platform, buildArchive(order), file)}`);
  }
}

/** Checks what users unpack, and runs its program if it is for this system. Returns what it found. */
function checkArchive(platform: Platform, path: string, { version }: PackageFile): string {
  const work = mkdtempSync(join(tmpdir(), 'vloc-check-'));
  try {
    unpack(path, work);
    const root = join(work, archiveName(platform, version).folder);
    const faults = findFaults(platform, root);
    if (faults.length > 0) throw new Error(`the archive for ${platform.name}: ${faults.join('; ')}`);
    const isHere = platform.os === process.platform && platform.cpu === process.arch;
    if (!isHere) return 'complete, not run here';
    const printed = run(join(root, programName(platform)), ['--version'], { cwd: work }).trim();
    if (printed !== version) throw new Error(`the program prints the version ${printed}, not ${version}`);
    return `complete, its program prints ${printed}`;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The same for an archive that another machine built. */
function tryHere(): void {
  const file = readPackage();
  const platform = PLATFORMS.find(({ os, cpu }) => os === process.platform && cpu === process.arch);
  if (platform === undefined)
    throw new Error(`there is no archive for ${process.platform} on ${process.arch}`);
  const path = join(OUT, archiveName(platform, file.version).file);
  say(`archive ${platform.name}: ${checkArchive(platform, path, file)}`);
}

/** Makes what depends on the archives, and the checksums of everything. */
function finish(): void {
  const file = readPackage();
  const repository = repositoryOfHere();
  for (const platform of PLATFORMS) {
    const archive = join(OUT, archiveName(platform, file.version).file);
    if (platform.deb === undefined || !existsSync(archive)) continue;
    if (process.platform !== 'linux') continue;
    buildDeb({ platform, file, repository, archive, out: OUT, epoch: epoch() });
    say(`deb ${platform.deb}: vloc_${debVersion(file.version)}_${platform.deb}.deb`);
  }
  rmSync(join(OUT, 'manifests'), { recursive: true, force: true });
  rmSync(CHECKSUMS, { force: true });
  const text = readdirSync(OUT)
    .sort()
    .map((name) => `${sha256(join(OUT, name))}  ${name}\n`)
    .join('');
  writeFileSync(`${CHECKSUMS}.part`, text);
  renameSync(`${CHECKSUMS}.part`, CHECKSUMS);
  writeManifests(join(OUT, 'manifests'));
  say(
    `\nWould be published as ${file.version}${repository === null ? '' : `, from ${repository.url}`}:\n${text}`,
  );
}

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** Makes the manifests from the checksums that are published. */
function writeManifests(folder: string): void {
  const repository = repositoryOfHere();
  if (repository === null) {
    say('manifests: none, since they name addresses and no repository is known');
    return;
  }
  const lines = readFileSync(CHECKSUMS, 'utf8').trimEnd().split('\n');
  const checksums = Object.fromEntries(lines.map((line) => line.split('  ').reverse()));
  for (const { path, text } of createManifests({ file: readPackage(), repository, checksums })) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    say(`manifest: ${path}`);
  }
}
