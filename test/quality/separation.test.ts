/** Separation of speech and music: how near both stems are to the truth, in stereo and with the voice on one side, and clicks. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { separate } from '../../src/engines/separate/separate.ts';
import { createWork, stepEngines, temporaryFolder } from '../engines/workspace.ts';
import {
  type Channels,
  decodeChannels,
  HAS_CLIPS,
  type Mix,
  mix,
  NEEDED,
  RATE,
  speak,
  writeVideo,
} from './clips.ts';
import { report } from './report.ts';

/** Sixteen seconds of a voice, and sixteen of another. */
const CLIPS = {
  prompts: () => speak('heldOut', ['demo-nogo', 'privacy-unident']),
  librivox: () => speak('librivox', ['0870', '0890']),
} as const;

interface Separated {
  readonly sum: Channels;
  readonly vocals: Channels;
  readonly background: Channels;
}

/** Separates channels as a video with sound that is not compressed, so that the truth is known. */
async function separateChannels(sum: Channels): Promise<Separated> {
  const folder = temporaryFolder();
  const codecs = ['-c:v', 'mjpeg', '-c:a', 'pcm_s16le'];
  const video = writeVideo(join(folder, 'clip.mov'), sum, { codecs });
  const { vocals, background } = await separate(await stepEngines(), video, false, createWork(folder));
  return { sum, vocals: decodeChannels(vocals, 2), background: decodeChannels(background, 2) };
}

/** How near an estimate is to the truth, whatever the gain (SI-SDR), in decibels. */
function fidelity(truth: Channels, estimate: Channels): number {
  const common = product(truth, estimate);
  const power = product(truth, truth);
  const explained = common ** 2 / power;
  return 10 * Math.log10(explained / Math.max(product(estimate, estimate) - explained, 1e-12));
}

function product(one: Channels, other: Channels): number {
  let sum = 0;
  for (const [index, channel] of one.entries()) {
    for (const [at, value] of channel.entries()) sum += value * (other[index]?.[at] ?? 0);
  }
  return sum;
}

/** Reports how near an estimate is to the truth, and returns by how much it is nearer than the mix. */
function compare(name: string, truth: Channels, sum: Channels, estimate: Channels): number {
  const before = fidelity(truth, sum);
  const after = fidelity(truth, estimate);
  report(`${name} (in the mix ${before.toFixed(1)} dB)`, after, 'dB');
  return after - before;
}

const describeMusic = (decibels: number | null) =>
  decibels === null ? 'no music' : `music ${Math.abs(decibels)} dB ${decibels < 0 ? 'above' : 'below'}`;

/** The voice 14 dB louder on the left. */
function onTheLeft({ voice, music }: Mix): Mix {
  const left = voice.map((channel, index) => (index === 0 ? channel : channel.map((value) => value / 5)));
  return {
    ...{ voice: left, music },
    sum: left.map((channel, index) => channel.map((value, at) => value + (music[index]?.[at] ?? 0))),
  };
}

/** Clicks of 2 ms of noise, three in two seconds, in all of the clip. */
function clicksFor(length: number): Channels {
  const clicks = new Float32Array(length);
  for (let start = 0; start < length; start += 0.67 * RATE) {
    for (let at = Math.round(start); at < start + 0.002 * RATE; at += 1)
      clicks[at] = 0.4 * Math.sin(0.37 * at * at);
  }
  return [clicks, clicks];
}

const add = (one: Channels, other: Channels): Channels =>
  one.map((channel, index) => channel.map((value, at) => value + (other[index]?.[at] ?? 0)));

describe.skipIf(!HAS_CLIPS)(`separation (${NEEDED})`, () => {
  /** The least gains in SI-SDR: a dB or more below what was measured. */
  test.each([
    { clip: 'prompts', music: -5, least: { voice: 0, background: 0 } },
    { clip: 'prompts', music: 0, least: { voice: 3, background: 3 } },
    { clip: 'prompts', music: 6, least: { voice: 3, background: 6 } },
    { clip: 'prompts', music: 12, least: { voice: 2, background: 9 } },
    { clip: 'librivox', music: 0, least: { voice: 2, background: 2 } },
    { clip: 'librivox', music: 6, least: { voice: 2, background: 5 } },
    { clip: 'librivox', music: 12, least: { voice: 1, background: 8 } },
  ] as const)(
    'gives stems of $clip with music at $music dB that are nearer to the truth than the mix is',
    async ({ clip, music, least }) => {
      const truth = mix(CLIPS[clip](), music);
      const { sum, vocals, background } = await separateChannels(truth.sum);
      const under = describeMusic(music);
      const voice = compare(`voice: ${clip}, ${under}`, truth.voice, sum, vocals);
      const rest = compare(`background: ${clip}, ${under}`, truth.music, sum, background);
      expect(voice).toBeGreaterThan(least.voice);
      expect(rest).toBeGreaterThan(least.background);
    },
  );

  test.each([0, 6])(
    'a voice on the left under music at %d dB is nearer to the truth than the mix is',
    async (music) => {
      const truth = onTheLeft(mix(CLIPS.prompts(), music));
      const { sum, vocals } = await separateChannels(truth.sum);
      const gain = compare(`voice on the left, ${describeMusic(music)}`, truth.voice, sum, vocals);
      expect(gain).toBeGreaterThan(3);
    },
  );

  test('a voice without music stays as it is', async () => {
    const truth = mix(CLIPS.librivox(), null);
    const after = fidelity(truth.voice, (await separateChannels(truth.sum)).vocals);
    report('voice: librivox, no music', after, 'dB');
    expect(after).toBeGreaterThan(25);
  });

  test.each([null, 12])(
    'clicks of 2 ms stay in the background, under speech too; music at %d dB',
    async (music) => {
      const speech = CLIPS.librivox();
      const truth = mix(speech, music);
      const clicks = clicksFor(truth.sum[0]?.length ?? 0);
      const { vocals, background } = await separateChannels(add(truth.sum, clicks));
      const whole = product(clicks, clicks);
      const kept = 20 * Math.log10(Math.max(1e-9, product(clicks, background) / whole));
      const leaked = 20 * Math.log10(Math.max(1e-9, Math.abs(product(clicks, vocals)) / whole));
      report(`clicks in the background: ${describeMusic(music)}`, kept, 'dB');
      report(`clicks in the voice: ${describeMusic(music)}`, leaked, 'dB');
      expect(kept).toBeGreaterThan(-1.5);
      expect(leaked).toBeLessThan(-12);
      expect(fidelity(truth.voice, vocals)).toBeGreaterThan(fidelity(truth.voice, add(truth.sum, clicks)));
    },
  );
});
