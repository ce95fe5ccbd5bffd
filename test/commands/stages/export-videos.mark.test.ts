/** The mark and the provenance of a video in stages. */
import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { readProvenance } from '../../../src/batch/provenance-file.ts';
import { readMark } from '../../../src/media/export/mark.ts';
import { ffprobe } from '../../engines/workspace.ts';
import { type Staging, startStaging } from './staging.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es', '--from', 'en', '--from-subtitles', '--provenance'];

const markOf = (vloc: Staging) => readMark(ffprobe(vloc.path('talk.es.mp4'), 'format_tags=comment'));
const provenanceOf = (vloc: Staging) => readProvenance(vloc.path('talk.es.mp4'));

it('a video in stages is marked without being asked, its provenance names edited cues, and --no-mark exports it again', async () => {
  const vloc = await startStaging();
  const made = await vloc.run(LOCALIZE);
  expect(made.code, made.stderr).toBe(0);
  expect(markOf(vloc)).toMatchObject({ synthetic_speech: true, from: 'en', to: ['es'] });
  expect(await provenanceOf(vloc)).toMatchObject({ edited: [], from: 'en' });
  const before = vloc.read('talk.es.mp4');
  // Another day does not make it another video.
  expect((await vloc.run(LOCALIZE, { now: () => Date.now() + 86_400_000 })).code).toBe(0);
  expect(vloc.read('talk.es.mp4')).toBe(before);
  await vloc.edit('talk.es.srt', 'NIGHT', 'EVENING');
  expect((await vloc.run(LOCALIZE)).code).toBe(0);
  expect((await provenanceOf(vloc))?.edited).toEqual([{ step: 'translate', file: 'talk.es.srt', cues: [2] }]);
  expect((await vloc.run(['verify', 'talk.es.mp4'])).stdout).toContain('talk.es.srt: cues 2');
  const jobs = await vloc.jobs();
  expect((await vloc.run([...LOCALIZE, '--no-mark'])).code).toBe(0);
  expect(markOf(vloc)).toBeNull();
  expect(await vloc.jobs()).toEqual(jobs);
});

it('the program of `engines add mark` gets a finished video last, and a failure of it keeps what is paid', async () => {
  const vloc = await startStaging();
  const engines = (...words: string[]) =>
    writeFile(vloc.path('engines.json'), JSON.stringify({ mark: [{ type: 'command', run: words }] }));
  const run = (...more: string[]) =>
    vloc.run([...LOCALIZE, ...more], { env: { VLOC_ENGINES: vloc.path('engines.json') } });
  await engines('ffmpeg', '-v', 'error', '-i', '{input}');
  expect(await run()).toMatchObject({ code: 4, stderr: expect.stringContaining('{output}') });
  await engines('cp', '/dev/null', '{output}', '{input}');
  expect((await run()).stderr).toMatch(/could not be marked: command cp .*engines remove mark/s);
  const jobs = await vloc.jobs();
  await engines(
    'ffmpeg',
    '-v',
    'error',
    '-i',
    '{input}',
    '-c',
    'copy',
    '-metadata',
    'title=Signed',
    '{output}',
  );
  const made = await run();
  expect(made.code, made.stderr).toBe(0);
  expect(ffprobe(vloc.path('talk.es.mp4'), 'format_tags=title')).toBe('Signed');
  expect(markOf(vloc)).toMatchObject({ to: ['es'] });
  expect((await vloc.run(['verify', 'talk.es.mp4'])).code).toBe(0);
  expect(await vloc.jobs()).toEqual(jobs);
});
