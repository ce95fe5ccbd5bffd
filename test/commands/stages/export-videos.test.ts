/** What is said of an export before and after it, and what cannot be exported. */
import { expect, it } from 'vitest';
import { locateProgram } from '../../../src/media/programs/programs.ts';
import { ffmpeg } from '../../engines/workspace.ts';
import { pathWith } from '../../support/path-without.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { startStaging, streamsOf } from './staging.ts';

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

it('speech that goes on after the end of the video is said at the end of the run and needs a person, also if only the sound is written', async () => {
  const vloc = await startStaging({}, (run) => ({
    ...run,
    async dubbing(task, work) {
      const made = await run.dubbing(task, work);
      ffmpeg('-f', 'lavfi', '-i', 'sine=f=440:r=48000:d=4', '-c:a', 'pcm_s16le', made.audio.path);
      return made;
    },
  }));
  // The video lasts 3 s, and the second cue begins at 1.5 s.
  const { code, stderr } = await vloc.run([...LOCALIZE, ...MUTED, '--sound-only']);
  expect(code, stderr).toBe(0);
  expect(streamsOf(vloc.path('talk.es.m4a'))).toEqual(['aac']);
  expect(stderr).toContain('1 cue was too long to be spoken in its time and is cut off: 2');
  const attention = await vloc.run(['batch', 'report', '.', '--attention']);
  expect(attention.stdout).toMatch(/talk\.es\.srt:\d+: 00:00:01,500 CUT: .*1\.0 s cut off/);
});
