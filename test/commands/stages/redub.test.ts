/** Stages after a line of their dub has changed: only that line is dubbed again, and the video has the patched dub. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatSrt } from '../../../src/protocol/srt.ts';
import { ffmpeg } from '../../engines/workspace.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';
import { differingMs, samplesOf, speakTones } from '../../support/tones.ts';
import { digestOf, startStaging } from './staging.ts';

const LOCALIZE = [
  ...['localize', 'talk.mp4', '--to', 'es', '--from-subtitles', '--out', 'out', '--terms', 'terms.csv'],
  ...['--original-audio', 'mute', '--subtitle-output', 'soft'],
];

/** Three lines of 500 characters: two units. */
const TEXTS = ['uno', 'dos', 'tres'].map((text) => text.padEnd(500, '.'));

async function startTalk() {
  const small = createSmallEngines();
  const spoken: string[][] = [];
  const dubbing: typeof small.run.dubbing = async ({ lines }, work) => {
    const path = join(work.folder, 'dub.wav');
    spoken.push(lines.map(({ text }) => text));
    writeFileSync(path, speakTones(lines, { pitch: 110, level: 0.3 + spoken.length / 50 }));
    return { audio: { path, contentType: 'audio/wav' }, durationSeconds: 3 };
  };
  const inspect = async () => ({
    duration_seconds: 3,
    container: 'mp4',
    video: { codec: 'h264', width: 160, height: 120, frame_rate: 25 },
    audio: { codec: 'aac', sample_rate: 48_000, channels: 2 },
  });
  const vloc = await startStaging({ engines: { ...small, inspect, run: { ...small.run, dubbing } } });
  const lines = TEXTS.map((text, at) => ({
    ...{ index: at + 1, start_ms: at * 1000, end_ms: at * 1000 + 800, text },
  }));
  writeFileSync(vloc.path('talk.es.srt'), formatSrt(lines));
  const stages = vloc.path('out/.vloc/stages');
  return {
    ...{ vloc, spoken },
    run: async (...more: string[]) => {
      const ended = await vloc.run([...LOCALIZE, ...more]);
      expect(ended.code, ended.stderr).toBe(0);
      return ended;
    },
    track: () => {
      const name = readdirSync(stages).find((each) => each.startsWith('talk.dub'));
      return samplesOf(readFileSync(join(stages, name ?? '')));
    },
    video: () => digestOf(vloc.path('out/talk.es.mp4')),
  };
}

it('a say of a name is spoken, a changed one is one unit of the dub and put into the video, and the subtitles keep the name', async () => {
  const { vloc, spoken, run, track, video } = await startTalk();
  const subtitles = vloc.read('talk.es.srt');
  const [one = '', two = '', three = ''] = TEXTS;
  const terms = (say: string) => writeFileSync(vloc.path('terms.csv'), `term,say\ndos*,${say}\n`);
  terms('dosss');
  await run();
  expect(spoken).toEqual([[one, two.replace('dos', 'dosss'), three]]);
  ffmpeg('-i', vloc.path('out/talk.es.mp4'), '-map', '0:s', vloc.path('track.srt'));
  expect(vloc.read('track.srt').replaceAll(/\s/g, '')).toContain(two);
  const [before, first] = [track(), video()];
  terms('tos');
  const plan = JSON.parse((await run('--dry-run', '-o', 'json')).stdout);
  expect(plan.stages.find(({ kind }: { kind: string }) => kind === 'dubbing')).toMatchObject({
    ...{ jobs: 1, quantity: 1 },
    items: [{ redubbed: { cues: 1, of: 3 } }],
  });
  await run();
  // The line after it shows the service where its time ends.
  expect(spoken.slice(1)).toEqual([[two.replace('dos', 'tos'), three]]);
  const [from, to] = differingMs(before, track()) ?? [];
  expect([from, to]).toEqual([expect.closeTo(1000, -1), expect.closeTo(1800, -1)]);
  expect(video()).not.toBe(first);
  expect(vloc.read('talk.es.srt')).toBe(subtitles);
  expect(await vloc.jobs()).toEqual([0, 0, 2, 0]);
});

it('--only is refused without stages, and before the dub', async () => {
  const { vloc } = await startTalk();
  for (const words of [
    ['localize', 'talk.mp4', '--to', 'es', '--only', '3'],
    ['localize', 'talk.mp4', '--to', 'es', '--stop-after', 'translate', '--only', '3'],
  ]) {
    const { code, stderr } = await vloc.run(words);
    expect(code, stderr).toBe(2);
    expect(stderr).toContain('--only');
  }
});
