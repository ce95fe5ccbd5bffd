/** What the release says about the project: pure functions of the checkout's files and of where it runs. */

export interface Repository {
  /** Address for people, without a slash at the end. */
  readonly url: string;
  readonly owner: string;
  readonly name: string;
}

/** Variables of GitHub's runners, and the address of the git remote if there is one. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly remote: string | null;
}

/** Finds the repository from where the release runs. Returns null if nothing names one; none is invented. */
export function findRepository({ env, remote }: Surroundings): Repository | null {
  const slug = env.GITHUB_REPOSITORY ?? '';
  if (slug !== '') return parseAddress(`${env.GITHUB_SERVER_URL ?? 'https://github.com'}/${slug}`);
  return remote === null ? null : parseAddress(remote);
}

/** `https://host/owner/name.git`, `ssh://git@host/owner/name` or `git@host:owner/name`; folders of this machine are no address. */
function parseAddress(address: string): Repository | null {
  const match =
    /^(?:https:\/\/(?:[^/@]+@)?|ssh:\/\/(?:[^/@]+@)?|[\w.-]+@)([\w.-]+)(?::\d+)?[/:]([\w.-]+)\/([\w.-]+?)(?:\.git)?\/?$/.exec(
      address.trim(),
    );
  if (match === null) return null;
  const [, host = '', owner = '', name = ''] = match;
  return { url: `https://${host}/${owner}/${name}`, owner, name };
}

/** The fields of package.json as they are in the checkout. */
export type PackageFile = Readonly<Record<string, unknown>> & {
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly author: string;
};

/**
 * The package.json that is published: with the addresses of the repository, which `npm publish --provenance` compares with where
 * it runs, and the registry, which `vloc upgrade` asks for newer versions.
 */
export function publishedPackage(
  file: PackageFile,
  repository: Repository | null,
  registry: string,
): PackageFile {
  // Only a checkout has them; scripts would refer to files that are not published.
  const { scripts: _scripts, devDependencies: _devDependencies, allowScripts: _allowed, ...kept } = file;
  if (repository === null) return kept as PackageFile; // nothing of PackageFile was removed
  const { url } = repository;
  return {
    ...(kept as PackageFile), // nothing of PackageFile was removed
    repository: { type: 'git', url: `git+${url}.git` },
    bugs: { url: `${url}/issues` },
    homepage: `${url}#readme`,
    publishConfig: { access: 'public', registry },
  };
}

/** The start of the section about the installation, once `npx` finds vloc. The commands for a checkout follow. */
const PUBLISHED_START = `\`\`\`sh
npx vloc localize talk.mp4 --to es
\`\`\`

runs vloc without an installation and writes \`talk.es.mp4\`. It needs Node 22.19 or newer, but not 23, and the media engines (ffmpeg, PocketSphinx,
Apertium, eSpeak NG), which \`npx vloc engines install\` installs with your system's package manager.

\`\`\`sh
npm install --global vloc
\`\`\`

adds the \`vloc\` command and its man page. There are also archives that need no Node, and packages for Debian, Homebrew, Scoop, winget and the
AUR: see [docs/install.md](docs/install.md). [docs/containers.md](docs/containers.md) builds an image.

### From a checkout

On Linux:`;

const BEFORE_RELEASE = /<!-- before the first release -->\n[\s\S]*?\n<!-- \/before the first release -->\n/g;

/**
 * The README as it is published: it starts with `npx vloc`. In the checkout it starts with what works before anything was published.
 * A README of a checkout that has made its first release stays as it is.
 * @throws Error if it has no place for that start
 */
export function publishedReadme(readme: string): string {
  const place =
    /(?<=^## Install\n\n)<!-- before the first release -->\n[\s\S]*?\n<!-- \/before the first release -->$/m;
  const published = withoutNotReleased(readme.replace(place, () => PUBLISHED_START));
  if (!published.includes(PUBLISHED_START)) throw new Error('README.md has no place for the start with npx.');
  return published;
}

/** Removes what a page says only until the first release. */
export function withoutNotReleased(page: string): string {
  return page.replace(BEFORE_RELEASE, '').replace(/\n{3,}/g, '\n\n');
}

/** The address of a file of a release. */
export function downloadAddress(repository: Repository, version: string, file: string): string {
  return `${repository.url}/releases/download/v${version}/${file}`;
}

/** The text of the changelog for a version: its own section, else what is not released yet; null if there is neither. */
export function readNotes(changelog: string, version: string): string | null {
  const sections = changelog.split(/^## /m).slice(1);
  const find = (start: RegExp) => sections.find((section) => start.test(section));
  const section = find(new RegExp(`^\\[?${escapeVersion(version)}\\]?(?:\\s|$)`)) ?? find(/^Unreleased\s/);
  const text = section?.slice(section.indexOf('\n')).trim() ?? '';
  return text === '' ? null : text;
}

/**
 * Makes the unreleased changes those of a version.
 * @throws Error if there are none, or the version has a section already
 */
export function releaseChangelog(changelog: string, version: string, day: string): string {
  if (new RegExp(`^## \\[?${escapeVersion(version)}\\]?(?:\\s|$)`, 'm').test(changelog)) {
    throw new Error(`CHANGELOG.md already has a section for ${version}.`);
  }
  if (!/^## Unreleased\s*\n/m.test(changelog) || readNotes(changelog, version) === null) {
    throw new Error('CHANGELOG.md has no changes below "## Unreleased".');
  }
  return changelog.replace(/^## Unreleased\s*\n/m, `## Unreleased\n\n## ${version} - ${day}\n\n`);
}

function escapeVersion(version: string): string {
  return version.replaceAll('.', '\\.').replaceAll('+', '\\+');
}

/** Replaces the version in the text of package.json or package-lock.json, where the root package has it. */
export function setVersion(text: string, from: string, to: string): string {
  let left = text.includes('"lockfileVersion"') ? 2 : 1;
  return text.replaceAll(`"version": "${from}"`, (found) => {
    left -= 1;
    return left >= 0 ? `"version": "${to}"` : found;
  });
}

interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly 'bom-ref': string;
  readonly [field: string]: unknown;
}

export interface BillOfMaterials {
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly components: readonly Component[];
  readonly [field: string]: unknown;
}

/**
 * Adds to npm's bill of materials the packages whose code is part of vloc's own files: npm knows them only as packages for
 * development.
 * @param bundled the bill that the build writes
 * @param epoch the time of the commit; npm's own time and random number would make each bill another file
 */
export function addBundled(
  bill: BillOfMaterials,
  bundled: Pick<BillOfMaterials, 'components'>,
  epoch: number,
): BillOfMaterials {
  const known = new Set(bill.components.map(({ name, version }) => `${name}@${version}`));
  const { serialNumber: _random, ...kept } = bill;
  return {
    ...(kept as BillOfMaterials), // the number is no field of it
    metadata: { ...bill.metadata, timestamp: new Date(epoch * 1000).toISOString() },
    components: [
      ...bill.components,
      ...bundled.components.filter(({ name, version }) => !known.has(`${name}@${version}`)),
    ],
  };
}
