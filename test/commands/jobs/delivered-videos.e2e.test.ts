/** What this machine does to a delivered video, from the command to the tracks, the pixels and the tags of the file. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hashFile } from '../../../src/base/hash-file.ts';
import { readProvenance } from '../../../src/batch/provenance-file.ts';
import { readMark } from '../../../src/media/export/mark.ts';
import { ffprobe } from '../../engines/workspace.ts';
import { SIZE, startTalk, talk } from './titled-talk.ts';

/** How many pixels in the middle of the cue have the colour of a red box, above and in the lowest fifth. */
function redBoxOf(path: string) {
  const { width, height } = SIZE;
  const args = ['-v', 'error', '-ss', '0.5', '-i', path, '-frames:v', '1', '-f', 'rawvideo'];
  const bytes = execFileSync('ffmpeg', [...args, '-pix_fmt', 'rgb24', '-']);
  const isBox = (at: number) => {
    const [red = 0, blue = 0] = [bytes[at * 3], bytes[at * 3 + 2]];
    return red - blue > 60;
  };
  const found = Array.from({ length: width * height }, (_, at) => at).filter(isBox);
  const low = found.filter((at) => at >= width * height * 0.82);
  return { pixels: found.length - low.length, low: low.length };
}

test('a style is drawn into it, for which the service returns its subtitles as a track, and the file is marked', async () => {
  const { localize, run, at, jobs, vloc } = await startTalk();
  writeFileSync(at('red.json'), JSON.stringify({ box: '#FF0000', size: 20 }));
  const red = await localize('--subtitle-output', 'burned', '--subtitle-style', 'red.json', '--provenance');
  expect(red.code, red.stderr).toBe(0);
  const video = at('talk.es.mp4');
  expect(ffprobe(video, 'stream=codec_name')).toBe('h264\naac');
  const box = redBoxOf(video);
  expect(box.pixels).toBeGreaterThan(50);
  expect(box.low).toBe(0);
  const [{ id }] = await jobs();
  const { json } = await vloc.caller.get(`/v1/auto-localizations/${id}`);
  expect(json.input.subtitle_output).toBe('soft');

  expect(readMark(ffprobe(video, 'format_tags=comment'))).toMatchObject({
    ...{ synthetic_speech: true, from: null, to: ['es'] },
  });
  expect((await readProvenance(video))?.result.sha256).toBe(await hashFile(video));
  const good = await run(['verify', 'talk.es.mp4']);
  expect(good.code, good.stderr).toBe(0);
  expect(good.stdout).toMatch(/^talk\.es\.mp4 +verified$/m);
  expect(good.stdout).toContain('Synthetic speech in Spanish');
});

test('it gets the tracks of the original, which is unchanged, and `jobs wait` knows it', async () => {
  const { localize, run, at, jobs } = await startTalk();
  const first = await localize('--keep-audio', '--keep-subtitles');
  expect(first.code, first.stderr).toBe(0);
  expect(ffprobe(at('talk.es.mp4'), 'stream_tags=language').split('\n')).toEqual([
    ...['und', 'eng', 'eng', 'eng', 'eng'],
  ]);
  expect(readFileSync(at('talk.mp4')).equals(talk())).toBe(true);
  expect(readdirSync(at('.')).filter((name) => name.includes('.es.'))).toEqual(['talk.es.mp4']);
  const written = readFileSync(at('talk.es.mp4'));
  // `jobs wait` knows the file too, although its bytes are not those that the service states.
  const [{ id }, ...others] = await jobs();
  // A run that is killed after it named the result leaves its download.
  mkdirSync(at('.talk.es.mp4.add'));
  writeFileSync(at('.talk.es.mp4.add/result.mp4'), talk());
  const waited = await run(['jobs', 'wait', id]);
  expect(waited.code, waited.stderr).toBe(0);
  expect(readFileSync(at('talk.es.mp4')).equals(written)).toBe(true);
  expect(existsSync(at('.talk.es.mp4.add'))).toBe(false);
  expect(others).toEqual([]);
});
