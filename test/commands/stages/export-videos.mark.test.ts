/** The mark and the provenance of a video in stages. */
import { expect, it } from 'vitest';
import { readProvenanceFile } from '../../../src/batch/provenance-file.ts';
import { readMark } from '../../../src/media/export/mark.ts';
import { ffprobe } from '../../engines/workspace.ts';
import { type Staging, startStaging } from './staging.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es', '--from', 'en', '--from-subtitles', '--provenance'];

const markOf = (vloc: Staging) => readMark(ffprobe(vloc.path('talk.es.mp4'), 'format_tags=comment'));
const provenanceOf = (vloc: Staging) => readProvenanceFile(vloc.read('talk.es.provenance.json'));

it('a video in stages is marked without being asked, and --no-mark exports it again without', async () => {
  const vloc = await startStaging();
  const made = await vloc.run(LOCALIZE);
  expect(made.code, made.stderr).toBe(0);
  expect(markOf(vloc)).toMatchObject({ synthetic_speech: true, from: 'en', to: ['es'] });
  const before = vloc.read('talk.es.mp4');
  // Another day does not make it another video.
  expect((await vloc.run(LOCALIZE, { now: () => Date.now() + 86_400_000 })).code).toBe(0);
  expect(vloc.read('talk.es.mp4')).toBe(before);
  const jobs = await vloc.jobs();
  expect((await vloc.run([...LOCALIZE, '--no-mark'])).code).toBe(0);
  expect(markOf(vloc)).toBeNull();
  expect(await vloc.jobs()).toEqual(jobs);
});

it('the provenance of a video in stages names the cues that a person has edited, and given files', async () => {
  const vloc = await startStaging();
  expect((await vloc.run(LOCALIZE)).code).toBe(0);
  expect(provenanceOf(vloc)).toMatchObject({ edited: [], from: 'en' });
  await vloc.edit('talk.es.srt', 'NIGHT', 'EVENING');
  const again = await vloc.run(LOCALIZE);
  expect(again.code, again.stderr).toBe(0);
  expect(provenanceOf(vloc)?.edited).toEqual([{ step: 'translate', file: 'talk.es.srt', cues: [2] }]);
  expect((await vloc.run(['verify', 'talk.es.mp4'])).stdout).toContain('talk.es.srt: cues 2');

  await vloc.edit('talk.es.srt', 'EVENING', 'DAY');
  const own = await startStaging();
  await own.run([...LOCALIZE, '--stop-after', 'recognize']);
  const text = own.read('talk.en.srt');
  const given = await startStaging();
  await given.addVideo('talk.mp4');
  const { writeFile } = await import('node:fs/promises');
  await writeFile(given.path('mine.srt'), text);
  const words = ['localize', 'talk.mp4', '--to', 'es', '--subtitle', 'mine.srt', '--provenance'];
  const done = await given.run(words);
  expect(done.code, done.stderr).toBe(0);
  expect(provenanceOf(given)?.steps[0]).toEqual({ step: 'translate', by: 'given file', engine: null });
});
