/** Detects how vloc was installed, and the command that upgrades it. Sends no request and installs nothing. */

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { type Command, defineCommand } from '../context/command.ts';
import { describeRecord } from '../context/output-schemas.ts';
import { printRecord, type RecordForm } from '../context/records.ts';

/** The ways to install vloc. The release writes the name of its own ones into a file beside the package. */
const WAYS = {
  npm: { title: 'npm', advice: 'npm install --global vloc@latest' },
  project: { title: 'a dependency of a project', advice: 'npm install vloc@latest' },
  npx: { title: 'npx', advice: 'npx vloc@latest' },
  standalone: {
    title: 'an archive',
    advice: 'Unpack the archive of the newest release, and replace this one with it.',
  },
  deb: { title: 'a Debian package', advice: 'sudo apt install ./vloc_VERSION_ARCHITECTURE.deb' },
  homebrew: { title: 'Homebrew', advice: 'brew upgrade vloc' },
  scoop: { title: 'Scoop', advice: 'scoop update vloc' },
  winget: { title: 'winget', advice: 'winget upgrade vloc' },
  aur: { title: 'the AUR', advice: 'Build vloc-bin from the AUR again, for example with: yay -S vloc-bin' },
  container: { title: 'a container image', advice: 'Pull the newest image, and start the container again.' },
  checkout: { title: 'a checkout', advice: 'git pull && npm install' },
} as const;

type Way = keyof typeof WAYS;

interface Traces {
  /** The folder of the package, with slashes as on Unix. */
  readonly folder: string;
  /** Content of the file that the release wrote beside the package; null without such a file. */
  readonly mark: string | null;
  /** Whether the sources are beside the package. */
  readonly hasSources: boolean;
}

/** The places where package managers unpack an archive without running anything of ours. */
const PLACES: readonly { readonly way: Way; readonly pattern: RegExp }[] = [
  { way: 'homebrew', pattern: /\/Cellar\/vloc\// },
  // The variable SCOOP names the folder of `apps`.
  { way: 'scoop', pattern: /^[a-z]:\/(?:.*\/)?apps\/vloc\/(?:current|\d[^/]*)\//i },
  { way: 'winget', pattern: /\/WinGet\/Packages\// },
  { way: 'npx', pattern: /\/_npx\/[^/]+\/node_modules\/vloc\/?$/ },
  // npm's folder for all users or for one; on Windows without `lib`.
  { way: 'npm', pattern: /\/(?:lib|npm|nodejs|v?\d+\.\d+\.\d+)\/node_modules\/vloc\/?$/ },
  { way: 'project', pattern: /\/node_modules\/vloc\/?$/ },
];

/** Finds how vloc was installed. */
export function findWay({ folder, mark, hasSources }: Traces): Way {
  const place = PLACES.find(({ pattern }) => pattern.test(folder))?.way;
  // An archive that a package manager unpacked is marked as an archive.
  const isArchive = mark === 'standalone';
  if (mark !== null && Object.hasOwn(WAYS, mark) && !(isArchive && place !== undefined)) return mark as Way; // just checked
  if (place !== undefined) return place;
  return hasSources ? 'checkout' : 'npm';
}

/** The folder of the package: sources and bundle have different depths. */
const PACKAGE = new URL(import.meta.url.endsWith('.ts') ? '../../../' : '../', import.meta.url);

/** A file of the package; null if there is none. */
export function readPackageFile(name: string): string | null {
  const path = fileURLToPath(new URL(name, PACKAGE));
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

/** How this vloc was installed, and what upgrades it. */
export function thisInstallation(): { readonly way: Way; readonly title: string; readonly advice: string } {
  const way = findWay({
    folder: fileURLToPath(PACKAGE).replaceAll('\\', '/'),
    mark: readPackageFile('installed-by')?.trim() ?? null,
    hasSources: existsSync(new URL('src/cli/start.ts', PACKAGE)),
  });
  return { way, ...WAYS[way] };
}

interface Upgrade {
  readonly version: string;
  readonly installed_by: Way;
  readonly upgrade: string;
}

const FORM: RecordForm<Upgrade> = {
  plural: 'installations',
  idOf: ({ version }) => version,
  columns: [
    { head: 'VERSION', field: 'version' },
    { head: 'INSTALLED BY', field: 'installed_by', text: ({ installed_by: way }) => WAYS[way].title },
    { head: 'UPGRADE', field: 'upgrade' },
  ],
};

const UPGRADE = describeRecord(
  v.object({ version: v.string(), installed_by: v.string(), upgrade: v.string() }),
);

export const upgrade: Command = defineCommand({
  options: {},
  fields: () => ['version', 'installed_by', 'upgrade'],
  prints: UPGRADE,
  examples: [
    { command: 'vloc upgrade', explains: 'this version, how it was installed, and how to upgrade it' },
  ],
  notes: [
    'Only prints: nothing is installed, and no request is sent.',
    'On a terminal, vloc mentions a newer version at most once a week, never if CI is set. It asks the npm registry for the ' +
      'newest version in the background and sends nothing else. VLOC_NO_UPDATE_NOTICE=1 turns this off.',
  ],
  run: async (context) => {
    const { version } = JSON.parse(readPackageFile('package.json') ?? '{}') as { version: string }; // our own file
    const { way, advice } = thisInstallation();
    await printRecord(context, FORM, { version, installed_by: way, upgrade: advice });
    return 0;
  },
});
