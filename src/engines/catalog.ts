/** The engines that do the media work: the purpose of each, how it is detected, and how each system installs it. */
import type { EngineStep } from './engine.ts';

const SYSTEMS = ['debian', 'fedora', 'arch', 'macos', 'windows'] as const;
export type OperatingSystem = (typeof SYSTEMS)[number];

export interface Engine {
  readonly name: string;
  readonly steps: readonly EngineStep[];
  /** Its task in a few words. */
  readonly purpose: string;
  /** Programs that must be on the PATH. */
  readonly programs: readonly string[];
  /** Flag with which the first program prints its version; missing for programs that have none. */
  readonly versionFlag?: string;
  /** npm packages that must be resolvable; they come with vloc. */
  readonly packages: readonly string[];
  /** Its language, if it is only installed for that one; without it, another engine does the step. */
  readonly onlyFor?: string;
  /** Packages of each system's package manager; systems without them are omitted. */
  readonly install: Readonly<Partial<Record<OperatingSystem, readonly string[]>>>;
}

/** Pairs of languages of Apertium; Debian has a package for each. */
export const USUAL_PAIRS: readonly string[] = ['eng-spa', 'eng-cat'];

export const ENGINES: readonly Engine[] = [
  {
    name: 'ffmpeg',
    steps: ['probe', 'separate', 'export'],
    purpose: 'reads and writes video and sound',
    programs: ['ffmpeg', 'ffprobe'],
    versionFlag: '-version',
    packages: [],
    install: {
      debian: ['ffmpeg'],
      fedora: ['ffmpeg-free'],
      arch: ['ffmpeg'],
      macos: ['ffmpeg'],
      windows: ['Gyan.FFmpeg'],
    },
  },
  {
    name: 'sherpa-onnx',
    steps: ['separate'],
    purpose: 'detects speech',
    programs: [],
    packages: ['sherpa-onnx-node', '@jitsi/rnnoise-wasm/dist/rnnoise.wasm'],
    install: {},
  },
  {
    name: 'pocketsphinx',
    steps: ['recognize'],
    purpose: 'recognizes English speech',
    programs: ['pocketsphinx_batch'],
    packages: [],
    install: {
      debian: ['pocketsphinx', 'pocketsphinx-en-us'],
      fedora: ['pocketsphinx', 'pocketsphinx-models'],
      macos: ['cmu-pocketsphinx'],
    },
  },
  {
    name: 'apertium',
    steps: ['translate'],
    purpose: 'translates text; English to and from Spanish and Catalan as installed here',
    programs: ['apertium'],
    versionFlag: '-V',
    packages: [],
    install: { debian: ['apertium', ...USUAL_PAIRS.map((pair) => `apertium-${pair}`)] },
  },
  {
    name: 'flite',
    steps: ['speak'],
    purpose: 'speaks English, clearer than espeak-ng',
    programs: ['flite'],
    packages: [],
    onlyFor: 'en',
    install: { debian: ['flite'], fedora: ['flite'], arch: ['flite'] },
  },
  {
    name: 'espeak-ng',
    steps: ['speak'],
    purpose: 'speaks text in more than a hundred languages',
    programs: ['espeak-ng'],
    versionFlag: '--version',
    packages: [],
    install: {
      debian: ['espeak-ng'],
      fedora: ['espeak-ng'],
      arch: ['espeak-ng'],
      macos: ['espeak-ng'],
      windows: ['eSpeak-NG.eSpeak-NG'],
    },
  },
];

/** The command that installs an engine. */
export function installCommand({ onlyFor }: Engine): string {
  return `vloc engines install${onlyFor === undefined ? '' : ` --to ${onlyFor}`}`;
}

/** Fonts for burned subtitles. They are large and only needed for some languages, so they are installed when asked for. */
interface FontPackages {
  /** ISO 15924 codes; null for all other scripts. */
  readonly scripts: readonly string[] | null;
  readonly install: Engine['install'];
}

/** macOS and Windows come with fonts for most scripts. */
export const FONTS: readonly FontPackages[] = [
  {
    scripts: ['Jpan', 'Kore', 'Hans', 'Hant'],
    install: {
      debian: ['fonts-noto-cjk'],
      fedora: ['default-fonts-cjk-sans'],
      arch: ['noto-fonts-cjk'],
    },
  },
  {
    // In one colour: libass does not draw the pictures of coloured emoji fonts.
    scripts: ['Zsye'],
    install: { debian: ['fonts-symbola'], fedora: ['google-noto-emoji-fonts'] },
  },
  {
    scripts: null,
    install: {
      debian: ['fonts-noto-core'],
      fedora: ['default-fonts-other-sans'],
      arch: ['noto-fonts'],
    },
  },
];
