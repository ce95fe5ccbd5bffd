/** What the page of a batch says of a localization in stages, and what cannot be exported. */
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { locateProgram } from '../../../src/media/programs/programs.ts';
import { ffmpeg } from '../../engines/workspace.ts';
import { pathWith } from '../../support/path-without.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { digestOf, startStaging } from './staging.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es'];
/** Without a separation. */
const MUTED = [...LOCALIZE, '--from-subtitles', '--original-audio', 'mute'];
const UNSPOKEN = 'changed after the video was made';

it('a text that differs from the spoken one is reported, until the same command has spoken it', async () => {
  const vloc = await startStaging();
  const goOn = [...MUTED, '--subtitle-format', 'vtt'];
  expect((await vloc.run(goOn)).code).toBe(0);
  expect(vloc.has('talk.es.srt')).toBe(false);
  const report = async () => {
    expect((await vloc.run(['batch', 'report', '.', '--html'])).code).toBe(0);
    return vloc.read('report.html');
  };
  await vloc.edit('talk.es.vtt', 'GOOD MORNING', 'buenos días');
  expect(await report()).toContain(UNSPOKEN);

  const { code, stderr } = await vloc.run(goOn);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain('talk.es.vtt: 1 cue changed, 1 unchanged');
  expect(vloc.dubbed.at(-1)).toBe('buenos días | AND GOOD NIGHT');
  expect(await vloc.jobs()).toEqual([1, 1, 2, 0]);
  expect(await report()).not.toContain(UNSPOKEN);
});

/** A PATH whose renderer has no font with these letters. */
function pathWithoutLetters(letters: string): string {
  const real = locateProgram('ffmpeg', rememberingPath()) ?? '';
  const codes = Array.from(letters, (letter) => letter.codePointAt(0)?.toString(16).toUpperCase()).join(' ');
  const say = 'echo "failed to find any fallback with glyph 0x$code for font: (a)" >&2';
  const script = `case "$*" in *letters.ass*) for code in ${codes}; do ${say}; done ;; *) exec '${real}' "$@" ;; esac`;
  return pathWith('ffmpeg', script);
}

it('a language without a font is refused before any job, a text without one before the dub, and another style is exported and pays nothing', async () => {
  const vloc = await startStaging();
  writeFileSync(vloc.path('house.json'), '{"extends":"box","size":8}');
  const burned = [...MUTED, '--subtitle-output', 'burned', '--subtitle-style', 'house.json'];
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

  expect((await vloc.run(['batch', 'retry', '.'])).code).toBe(0);
  const before = digestOf(vloc.path('talk.es.mp4'));
  // The file counts, not its name.
  writeFileSync(vloc.path('house.json'), '{"extends":"box","size":12}');
  expect((await vloc.run(burned)).code).toBe(0);
  expect(digestOf(vloc.path('talk.es.mp4'))).not.toBe(before);
  expect(await vloc.jobs()).toEqual([1, 1, 1, 0]);
});

it('speech that goes on after the end of the video is said at the end of the run, and needs a person', async () => {
  const vloc = await startStaging();
  const { run } = vloc.engines;
  const { dubbing } = run;
  const dubLong: typeof dubbing = async (task, work) => {
    const made = await dubbing(task, work);
    ffmpeg('-f', 'lavfi', '-i', 'sine=f=440:r=48000:d=4', '-c:a', 'pcm_s16le', made.audio.path);
    return made;
  };
  Object.assign(run, { dubbing: dubLong });
  // The video lasts 3 s, and the second cue begins at 1.5 s.
  const { code, stderr } = await vloc.run(MUTED);
  expect(code).toBe(0);
  expect(stderr).toContain('1 cue was too long to be spoken in its time and is cut off: 2');
  const attention = await vloc.run(['batch', 'report', '.', '--attention']);
  expect(attention.stdout).toMatch(/talk\.es\.srt:\d+: 00:00:01,500 CUT: .*1\.0 s cut off/);
});

it('surround sound that becomes stereo is said before', async () => {
  const vloc = await startStaging();
  const six = ['-af', 'pan=5.1|FC=c0', '-c:v', 'copy', '-c:a', 'aac'];
  ffmpeg('-i', vloc.path('talk.mp4'), ...six, vloc.path('film.mp4'));
  const plan = await vloc.run(['localize', 'film.mp4', '--to', 'es', '--from-subtitles', '--dry-run']);
  expect(plan.stderr).toContain(
    'film.mp4: its 6 channels of sound are mixed to two; --keep-audio keeps them',
  );
});
