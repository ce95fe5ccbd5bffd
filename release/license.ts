/** The license file of an archive: its native parts bind those who pass it on to more than vloc's own license. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes the license file of an archive.
 * @param own the text of vloc's own license
 * @param sherpa the version of sherpa-onnx in the archive
 */
export function formatLicense(own: string, sherpa: string): string {
  return `The code of vloc itself is under the MIT License below.

This archive also contains sherpa-onnx ${sherpa}, whose native part contains eSpeak NG, so the archive as a whole may be passed on
under GPL-3.0-or-later. The text is in lib/node_modules, in the LICENSE of the folder sherpa-onnx for this system. Sources:

- sherpa-onnx: ${sourceOf(sherpa)}
- eSpeak NG: the address in ${espeakOf(sherpa)}

--------------------------------------------------------------------------------

${own}`;
}

/** Version of an installed package. @param modules its `node_modules` @throws Error if it is not there */
export function installedVersion(modules: string, name: string): string {
  // The manifest of a package always has a version, or npm does not install it.
  const { version } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return version;
}

/** Everything that the license file of an archive lacks. @param sherpa the version of sherpa-onnx in the archive */
export function findLicenseFaults(text: string, sherpa: string): string[] {
  return ['MIT License', 'GPL-3.0-or-later', sourceOf(sherpa), espeakOf(sherpa)]
    .filter((part) => !text.includes(part))
    .map((part) => `LICENSE does not name ${part}`);
}

function sourceOf(sherpa: string): string {
  return `https://github.com/k2-fsa/sherpa-onnx/archive/refs/tags/v${sherpa}.tar.gz`;
}

/** The file of sherpa-onnx's build that names the source of eSpeak NG by commit and checksum. */
function espeakOf(sherpa: string): string {
  return `https://github.com/k2-fsa/sherpa-onnx/blob/v${sherpa}/cmake/espeak-ng-for-piper.cmake`;
}
