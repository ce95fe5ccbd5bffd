/** `--subtitle-style` of a localization in one job, from the command to the pixels of the file. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ffmpeg, ffprobe } from '../../engines/workspace.ts';
import { until } from '../../service/harness/scene.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { startVloc } from '../support/run-vloc.ts';
import { startWatch } from '../support/start-watch.ts';

const SIZE = { width: 64, height: 96 };

let video: Buffer | undefined;

/** A grey second with a tone and a subtitle track; made once. */
function talk(): Buffer {
  if (video !== undefined) return video;
  const folder = makeFolder();
  const path = join(folder, 'talk.mp4');
  writeFileSync(`${path}.srt`, '1\n00:00:00,100 --> 00:00:00,900\nhola\n');
  ffmpeg(
    ...['-f', 'lavfi', '-i', `color=c=gray:s=${SIZE.width}x${SIZE.height}:r=5:d=1`],
    ...['-f', 'lavfi', '-i', 'sine=f=500:r=48000:d=1', '-i', `${path}.srt`],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-c:s', 'mov_text'],
    path,
  );
  video = readFileSync(path);
  return video;
}

/** A service whose localization returns the video as it is. */
async function start() {
  const small = createSmallEngines();
  const inspect = async () => ({
    duration_seconds: 1,
    container: 'mp4' as const,
    video: { codec: 'h264', ...SIZE, frame_rate: 5 },
    audio: { codec: 'aac', sample_rate: 48_000, channels: 1 },
  });
  const vloc = await startVloc({ engines: { ...small, inspect } });
  const at = (name: string) => join(vloc.folder, name);
  writeFileSync(at('talk.mp4'), talk());
  for (const [name, box] of [
    ['red', '#FF0000'],
    ['blue', '#0000FF'],
  ])
    writeFileSync(at(`${name}.json`), JSON.stringify({ box, size: 20 }));
  return {
    ...{ at, vloc },
    localize: (...more: string[]) =>
      vloc.run(['localize', 'talk.mp4', '--to', 'es', ...more], { env: { PATH: rememberingPath() } }),
    jobs: async () => (await vloc.caller.get('/v1/auto-localizations?limit=50')).json.data,
    input: async (id: string) => (await vloc.caller.get(`/v1/auto-localizations/${id}`)).json.input,
  };
}

/** How many pixels in the middle of the cue have the colour of a box, above and in the lowest fifth. */
function boxOf(path: string, colour: 'red' | 'blue') {
  const { width, height } = SIZE;
  const args = ['-v', 'error', '-ss', '0.5', '-i', path, '-frames:v', '1', '-f', 'rawvideo'];
  const bytes = execFileSync('ffmpeg', [...args, '-pix_fmt', 'rgb24', '-']);
  const isBox = (at: number) => {
    const [red = 0, blue = 0] = [bytes[at * 3], bytes[at * 3 + 2]];
    return colour === 'red' ? red - blue > 60 : blue - red > 60;
  };
  const found = Array.from({ length: width * height }, (_, at) => at).filter(isBox);
  const low = found.filter((at) => at >= width * height * 0.82);
  return { pixels: found.length - low.length, low: low.length };
}

const STYLED = ['--subtitle-output', 'burned', '--subtitle-style'];

test('a style is drawn on this machine into the delivered video, and another one needs no other job', async () => {
  const { localize, at, jobs, input } = await start();
  const red = await localize(...STYLED, 'red.json');
  expect(red.code, red.stderr).toBe(0);
  expect(ffprobe(at('talk.es.mp4'), 'stream=codec_name')).toBe('h264\naac');
  const box = boxOf(at('talk.es.mp4'), 'red');
  expect(box.pixels).toBeGreaterThan(50);
  expect(box.low).toBe(0);
  const [{ id }] = await jobs();
  expect((await input(id)).subtitle_output).toBe('soft');

  expect(await localize(...STYLED, 'blue.json')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/written with other options: subtitle style \w{8} → subtitle style \w{8}/s),
  });
  const blue = await localize(...STYLED, 'blue.json', '--clobber');
  expect(blue.code, blue.stderr).toBe(0);
  expect(boxOf(at('talk.es.mp4'), 'blue').pixels).toBeGreaterThan(50);
  expect(await jobs()).toHaveLength(1);
  expect(readdirSync(at('.')).filter((name) => name.includes('.es.'))).toEqual(['talk.es.mp4']);
});

test('a dry run says where subtitles are burned in, and what cannot be drawn is refused before anything is sent', async () => {
  const { localize, at, jobs } = await start();
  writeFileSync(at('wrong.json'), '{"size":0}');
  writeFileSync(at('font.json'), '{"font":"Nosuch Grotesk"}');
  expect(await localize(...STYLED, 'box', '--dry-run')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(
      'talk.mp4: its subtitles are burned into the delivered video on this machine, free.',
    ),
  });
  for (const [words, why] of [
    [['--subtitle-style', 'box'], '--subtitle-style: is for burned subtitles; add --subtitle-output burned'],
    [['--subtitle-output', 'soft', '--subtitle-style', 'box'], 'add --subtitle-output burned'],
    [[...STYLED, 'neon'], 'the subtitle style neon cannot be used: there is no such style or file'],
    [[...STYLED, 'wrong.json'], 'wrong.json cannot be used: size must be at least 1'],
    [[...STYLED, 'font.json'], 'the font "Nosuch Grotesk" of the subtitle style is not installed'],
  ] as const)
    expect(await localize(...words), why).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  expect(await jobs()).toEqual([]);
});

test('a video that arrives with --watch gets its style, and one that cannot be drawn ends the watch', async () => {
  const { at, vloc } = await start();
  mkdirSync(at('in'));
  const watched = { ...vloc, env: { ...vloc.env, PATH: rememberingPath() } };
  const words = ['localize', 'in', '--to', 'es', '--out', 'out', '--watch', ...STYLED];
  const watch = await startWatch(watched, [...words, 'red.json']);
  renameSync(at('talk.mp4'), at('in/talk.mp4'));
  watch.goOn();
  await until(() => (watch.stdout() + watch.stderr()).includes('talk.es.mp4'));
  expect((await watch.stop()).stderr).not.toContain('failed');
  expect(boxOf(at('out/talk.es.mp4'), 'red').pixels).toBeGreaterThan(50);
  writeFileSync(at('font.json'), '{"font":"Nosuch Grotesk"}');
  const refused = await startWatch(watched, [...words, 'font.json']);
  await until(refused.stderr, (told) => /Nosuch|Watching/.test(told));
  expect(await refused.ended).toMatchObject({ code: 2, stderr: expect.stringContaining('"Nosuch Grotesk"') });
});
