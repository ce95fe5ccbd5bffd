/** `--subtitle-style` of a localization in one job, from the command to the pixels of the file. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ffprobe } from '../../engines/workspace.ts';
import { SIZE, startTalk } from './titled-talk.ts';

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

const STYLED = ['--subtitle-output', 'burned', '--subtitle-style'];

test('a style is drawn on this machine into the delivered video, and another one needs no other job', async () => {
  const { localize, at, jobs, vloc } = await startTalk();
  for (const [name, box] of [
    ['red', '#FF0000'],
    ['blue', '#0000FF'],
  ])
    writeFileSync(at(`${name}.json`), JSON.stringify({ box, size: 20 }));
  const red = await localize(...STYLED, 'red.json');
  expect(red.code, red.stderr).toBe(0);
  expect(ffprobe(at('talk.es.mp4'), 'stream=codec_name')).toBe('h264\naac');
  const box = redBoxOf(at('talk.es.mp4'));
  expect(box.pixels).toBeGreaterThan(50);
  expect(box.low).toBe(0);
  const [{ id }] = await jobs();
  const { json } = await vloc.caller.get(`/v1/auto-localizations/${id}`);
  expect(json.input.subtitle_output).toBe('soft');

  expect(await localize(...STYLED, 'blue.json')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/written with other options: subtitle style \w{8} → subtitle style \w{8}/s),
  });
  const blue = await localize(...STYLED, 'blue.json', '--clobber', '--dry-run', '-o', 'json');
  expect(JSON.parse(blue.stdout), blue.stderr).toMatchObject({ jobs: 0, continued: 1, quantity: 0 });
  expect(readdirSync(at('.')).filter((name) => name.includes('.es.'))).toEqual(['talk.es.mp4']);
});

test('a dry run says where subtitles are burned in, and what cannot be drawn is refused before anything is sent, also by a watch', async () => {
  const { localize, run, at, jobs } = await startTalk();
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
    [[...STYLED, 'neon'], 'the subtitle style neon cannot be used: there is no such style or file'],
    [[...STYLED, 'wrong.json'], 'wrong.json cannot be used: size must be at least 1'],
    [[...STYLED, 'font.json'], 'the font "Nosuch Grotesk" of the subtitle style is not installed'],
  ] as const)
    expect(await localize(...words), why).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  const watch = ['localize', 'in', '--to', 'es', '--out', 'out', '--watch', ...STYLED, 'font.json'];
  mkdirSync(at('in'));
  expect(await run(watch)).toMatchObject({ code: 2, stderr: expect.stringContaining('"Nosuch Grotesk"') });
  expect(await jobs()).toEqual([]);
});
