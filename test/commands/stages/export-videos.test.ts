/** What cannot be exported, which is said before it is paid. */
import { expect, it } from 'vitest';
import { locateProgram } from '../../../src/media/programs/programs.ts';
import { pathWith } from '../../support/path-without.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { startStaging } from './staging.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es'];
/** Without a separation. */
const MUTED = ['--from-subtitles', '--original-audio', 'mute'];

/** A PATH whose renderer has no font with these letters. */
function pathWithoutLetters(letters: string): string {
  const real = locateProgram('ffmpeg', rememberingPath()) ?? '';
  const codes = Array.from(letters, (letter) => letter.codePointAt(0)?.toString(16).toUpperCase()).join(' ');
  const say = 'echo "failed to find any fallback with glyph 0x$code for font: (a)" >&2';
  const script = `case "$*" in *letters.ass*) for code in ${codes}; do ${say}; done ;; *) exec '${real}' "$@" ;; esac`;
  return pathWith('ffmpeg', script);
}

it('a language without a font is refused before any job, and a text without one before the dub', async () => {
  const vloc = await startStaging();
  const burned = [...LOCALIZE, ...MUTED, '--subtitle-output', 'burned'];
  const alphabet = await vloc.run(burned, { env: { PATH: pathWithoutLetters('españoljuvrn') } });
  expect(alphabet.code).not.toBe(0);
  expect(alphabet.stderr).toMatch(/characters of Spanish.*`vloc engines install --font es`/s);
  expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);

  const text = await vloc.run(burned, { env: { PATH: pathWithoutLetters('GODMRNI') } });
  expect(text.code).not.toBe(0);
  expect(text.stderr).toContain('nothing is paid twice');
  expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);
  const failed = await vloc.run(['batch', 'status', '.']);
  expect(failed).toMatchObject({ code: 3, stdout: expect.stringMatching(/failed.*`vloc engines install/s) });
});
