/** A finished video in stages: its mark, its provenance, speech that was cut off, and when it is exported again. */
import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { readProvenance } from '../../../src/batch/provenance-file.ts';
import { readMark } from '../../../src/media/export/mark.ts';
import { ffmpeg, ffprobe } from '../../engines/workspace.ts';
import { digestOf, startStaging, streamsOf } from './staging.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es', '--from', 'en', '--from-subtitles'];
const WORDS = [...LOCALIZE, '--mode', 'subtitles_only', '--provenance'];
const SIGN = ['ffmpeg', '-v', 'error', '-i', '{input}', '-c', 'copy', '-metadata', 'title=Signed'];

it('a video in stages is marked by the program of `engines add mark`, whose failure keeps what is paid; its provenance names edited cues', async () => {
  const vloc = await startStaging();
  const video = vloc.path('talk.es.mp4');
  const markedBy = (...words: string[]) =>
    writeFile(vloc.path('engines.json'), JSON.stringify({ mark: [{ type: 'command', run: words }] }));
  const run = (...more: string[]) =>
    vloc.run([...WORDS, ...more], { env: { VLOC_ENGINES: vloc.path('engines.json') } });
  const markOf = () => readMark(ffprobe(video, 'format_tags=comment'));

  await markedBy('ffmpeg', '-v', 'error', '-i', '{input}');
  expect(await run()).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/cannot be used.*\{output\}/s),
  });
  expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
  await markedBy('cp', '/dev/null', '{output}', '{input}');
  expect((await run()).stderr).toMatch(/could not be marked: command cp .*engines remove mark/s);
  await markedBy(...SIGN, '{output}');
  await vloc.edit('talk.es.srt', 'NIGHT', 'EVENING');
  const made = await run();
  expect(made.code, made.stderr).toBe(0);
  expect(ffprobe(video, 'format_tags=title')).toBe('Signed');
  expect(markOf()).toMatchObject({
    synthetic_speech: false,
    from: 'en',
    to: ['es'],
  });
  expect(await readProvenance(video)).toMatchObject({
    edited: [{ step: 'translate', file: 'talk.es.srt', cues: [2] }],
    ...{ from: 'en', result: { sha256: digestOf(video) } },
  });
  const verified = await vloc.run(['verify', 'talk.es.mp4']);
  expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('talk.es.srt: cues 2')]);
  expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);
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
  const { code, stderr } = await vloc.run([...LOCALIZE, '--original-audio', 'mute', '--sound-only']);
  expect(code, stderr).toBe(0);
  expect(streamsOf(vloc.path('talk.es.m4a'))).toEqual(['aac']);
  expect(stderr).toContain('1 cue was too long to be spoken in its time and is cut off: 2');
  const attention = await vloc.run(['batch', 'report', '.', '--attention']);
  expect(attention.stdout).toMatch(/talk\.es\.srt:\d+: 00:00:01,500 CUT: .*1\.0 s cut off/);
});

it('a finished video is exported again, and nothing is paid, if only its text or its style changes, but not over what somebody has changed', async () => {
  const vloc = await startStaging();
  // Without a dub an export copies the sound.
  const soft = [...LOCALIZE, '--mode', 'subtitles_only', '--subtitle-format', 'vtt'];
  const run = async (...words: string[]) => {
    const { code, stderr } = await vloc.run(words);
    expect(code, stderr).toBe(0);
  };
  const report = async () => {
    await run('batch', 'report', '.', '--html');
    return vloc.read('report.html');
  };
  await run(...soft);
  expect(streamsOf(vloc.path('talk.es.mp4'))).toEqual(['h264', 'aac', 'mov_text']);
  await vloc.edit('talk.es.vtt', 'GOOD MORNING', 'buenos días');
  const unspoken = 'changed after the video was made';
  expect(await report()).toContain(unspoken);

  await run(...soft, '--subtitle-output', 'burned', '--subtitle-style', 'box');
  expect(streamsOf(vloc.path('talk.es.mp4'))).toEqual(['h264', 'aac']);
  expect(await report()).not.toContain(unspoken);
  expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);

  await writeFile(vloc.path('talk.es.mp4'), 'cut by hand');
  const { code, stderr } = await vloc.run(soft);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--clobber')]);
  expect(vloc.read('talk.es.mp4')).toBe('cut by hand');
});
