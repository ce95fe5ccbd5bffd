import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { detectSystem, readOsRelease } from '../../../src/engines/install.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { pathWithout } from '../../support/path-without.ts';
import { type EnginesDesk, openEnginesDesk } from '../support/run-engines.ts';

let desk: EnginesDesk;
let bin = '';
beforeEach(async () => {
  desk = await openEnginesDesk();
  bin = makeFolder();
});

function addProgram(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
}

const install = (...words: string[]) =>
  desk.run(['install', ...words], { PATH: `${bin}:${process.env.PATH ?? ''}` });

/** A list of packages, so that the tests do not depend on those of this machine. */
const addPackages = (...names: string[]) => addProgram('apt-cache', `printf '%s\\n' ${names.join(' ')}`);

describe.runIf(detectSystem(process.platform, readOsRelease()) === 'debian')(
  'vloc engines install --pair',
  () => {
    it('shows the package of the pair, and installs nothing without confirmation', async () => {
      addPackages('apertium-en-gl', 'apertium-eng-cat', 'apertium-all-dev', 'apertium-apy');
      const { code, stderr } = await install('--pair', 'glg-eng');
      expect(stderr).toContain('To be installed: apertium-en-gl\n');
      expect(stderr).toMatch(/apt-get install -y -q --no-install-recommends apertium-en-gl\n/);
      expect(code).not.toBe(0);
    });

    it('installs the usual pairs where Apertium is there without them', async () => {
      addPackages('apertium-eng-spa', 'apertium-eng-cat', 'apertium-es-pt');
      addProgram('apertium', `printf '  es-pt\\n  pt-es\\n'`);
      const { stderr } = await install();
      expect(stderr).toContain('To be installed: apertium-eng-spa, apertium-eng-cat\n');
    });

    it('runs the package manager, then checks that the pair is available', async () => {
      addPackages('apertium-en-gl');
      // The package manager of this machine, which the test replaces by a note of its call.
      const note = join(bin, 'called');
      for (const name of ['env', 'sudo']) addProgram(name, `echo "$@" >> '${note}'`);
      const path = process.env.PATH;
      process.env.PATH = `${bin}:${path}`;
      try {
        const { code, stderr } = await install('--pair', 'eng-glg', '--yes');
        expect(readFileSync(note, 'utf8')).toContain('apertium-en-gl');
        expect([code, stderr]).toEqual([4, expect.stringContaining('still missing: eng-glg')]);
      } finally {
        process.env.PATH = path;
      }
    });

    it('refuses what is not a pair', async () => {
      const { code, stderr } = await install('--pair=-o Dpkg::Pre-Invoke');
      expect([code, stderr]).toEqual([2, expect.stringContaining('is not a pair of languages')]);
    });
  },
);

describe.runIf(detectSystem(process.platform, readOsRelease()) === 'debian')(
  'vloc engines install --to en',
  () => {
    const withoutFlite = (...words: string[]) =>
      desk.run(['install', ...words], { PATH: `${bin}:${pathWithout('flite')}` });

    it('shows the package of the voice for English, and needs no pair of languages for it', async () => {
      const { code, stderr } = await withoutFlite('--to', 'en-GB');
      expect(stderr).toContain('To be installed: flite\n');
      expect(stderr).toMatch(/apt-get install -y -q --no-install-recommends flite\n/);
      expect(code).not.toBe(0);
    });
  },
);

describe.runIf(detectSystem(process.platform, readOsRelease()) === 'debian')(
  'vloc engines install --font',
  () => {
    /** A renderer on a machine whose fonts lack these characters. */
    const addRenderer = (missing: string) => {
      const codes = Array.from(missing, (letter) => letter.codePointAt(0)?.toString(16).toUpperCase());
      const lines = codes.map((code) => `failed to find any fallback with glyph 0x${code} for font: (a)`);
      addProgram('ffmpeg', lines.map((line) => `echo '${line}' >&2`).join('\n'));
    };

    it('shows the package with the characters, and installs nothing without confirmation', async () => {
      addRenderer('日本語曜हिन्द');
      const { code, stderr } = await install('--font', 'hi');
      expect(stderr).toContain('To be installed: fonts-noto-core\n');
      expect(code).not.toBe(0);
    });

    it('refuses what is not a language', async () => {
      const { code, stderr } = await install('--font', 'ja_JP!');
      expect([code, stderr]).toEqual([2, expect.stringContaining('is not a language')]);
    });
  },
);
