/** The mark and the provenance of a video in stages. */
import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { readProvenance } from '../../../src/batch/provenance-file.ts';
import { readMark } from '../../../src/media/export/mark.ts';
import { ffprobe } from '../../engines/workspace.ts';
import { digestOf, startStaging } from './staging.ts';

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
  expect((await run('--no-mark')).code).toBe(0);
  expect(markOf()).toBeNull();
  expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);
});
