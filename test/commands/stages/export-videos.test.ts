/** What the page of a batch says of a localization in stages, and what cannot be exported. */
import { expect, it } from 'vitest';
import { locateProgram } from '../../../src/media/programs/programs.ts';
import { ffmpeg, ffprobe } from '../../engines/workspace.ts';
import { pathWith } from '../../support/path-without.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { startStaging } from './staging.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es'];
const UNSPOKEN = 'changed after the video was made';

it.each(['srt', 'vtt', 'ass'])('a text that differs from the spoken one is reported: %s', async (format) => {
  const vloc = await startStaging();
  const inFormat = ['--subtitle-format', format];
  await vloc.run([...LOCALIZE, '--stop-after', 'translate', ...inFormat]);
  expect(vloc.has('talk.es.srt')).toBe(format === 'srt');
  const goOn = [...LOCALIZE, '--from-subtitles', ...inFormat];
  expect((await vloc.run(goOn)).code).toBe(0);
  const report = async () => {
    expect((await vloc.run(['batch', 'report', '.', '--html'])).code).toBe(0);
    return vloc.read('report.html');
  };
  expect(await report()).not.toContain(UNSPOKEN);

  await vloc.edit(`talk.es.${format}`, 'GOOD MORNING', 'buenos días');
  expect(await report()).toContain(UNSPOKEN);

  const { code, stderr } = await vloc.run(goOn);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain(`talk.es.${format}: 1 cue changed, 1 unchanged`);
  expect(vloc.dubbed.at(-1)).toBe('buenos días | AND GOOD NIGHT');
  expect(await vloc.jobs()).toEqual([1, 1, 2, 1]);
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

it('a language without a font is refused before any job, a text without one before the dub', async () => {
  const vloc = await startStaging();
  const burned = [...LOCALIZE, '--from-subtitles', '--subtitle-output', 'burned'];
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
  expect(await vloc.jobs()).toEqual([1, 1, 1, 1]);
  expect(await vloc.run(['batch', 'status', '.'])).toMatchObject({ code: 0 });
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
  const { code, stderr } = await vloc.run([...LOCALIZE, '--from-subtitles']);
  expect(code).toBe(0);
  expect(stderr).toContain('1 cue was too long to be spoken in its time and is cut off: 2');
  const attention = await vloc.run(['batch', 'report', '.', '--attention']);
  expect(attention.stdout).toMatch(/talk\.es\.srt:\d+: 00:00:01,500 CUT: .*1\.0 s cut off/);
});

it('surround sound that becomes stereo is said before and after, and --keep-audio keeps it', async () => {
  const vloc = await startStaging();
  const six = ['-af', 'pan=5.1|FC=c0', '-c:v', 'copy', '-c:a', 'aac'];
  ffmpeg('-i', vloc.path('talk.mp4'), ...six, vloc.path('film.mp4'));
  const words = ['localize', 'film.mp4', '--to', 'es', '--from-subtitles', '--keep-audio'];
  const plan = await vloc.run([...words, '--dry-run']);
  expect(plan.stderr).toContain('film.mp4: its 6 channels of sound are mixed to two');
  const done = await vloc.run(words);
  expect(done.stderr).toContain('sound of 6 channels mixed to two by ffmpeg');
  expect(ffprobe(vloc.path('film.es.mp4'), 'stream=channels', 'a')).toBe('2\n6');
});
