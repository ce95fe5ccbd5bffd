/** Separation of speech and music: how near both stems are to the truth, in stereo and with the voice on one side, and clicks. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { separateSound } from '../../src/engines/separate/separate.ts';
import type { Segment } from '../../src/media/audio/segments.ts';
import { createWork, stepEngines } from '../engines/workspace.ts';
import { makeFolder } from '../support/make-folder.ts';
import {
  type Channels,
  decodeChannels,
  HAS_CLIPS,
  level,
  type Mix,
  mix,
  NEEDED,
  RATE,
  type Speech,
  speak,
  writeVideo,
} from './clips.ts';
import { FIGURE, report } from './report.ts';

/** Sixteen seconds of a voice, sixteen of another, and a sentence of each. */
const CLIPS = {
  prompt: () => speak('heldOut', ['privacy-unident']),
  sentence: () => speak('librivox', ['0880']),
  prompts: () => speak('heldOut', ['demo-nogo', 'privacy-unident']),
  librivox: () => speak('librivox', ['0870', '0890']),
} as const;

interface Separated {
  readonly sum: Channels;
  readonly vocals: Channels;
  readonly background: Channels;
  readonly segments: readonly Segment[];
}

/** Separates channels as a video with sound that is not compressed, so that the truth is known. */
async function separateChannels(sum: Channels): Promise<Separated> {
  const folder = makeFolder();
  const codecs = ['-c:v', 'mjpeg', '-c:a', 'pcm_s16le'];
  const video = writeVideo(join(folder, 'clip.mov'), sum, { codecs });
  const stems = await separateSound(await stepEngines(), video, false, createWork(folder));
  return {
    ...{ sum, segments: stems.segments },
    vocals: decodeChannels(stems.vocals, 2),
    background: decodeChannels(stems.background, 2),
  };
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
    const factors = other[index] ?? new Float32Array(0);
    for (let at = 0; at < channel.length; at += 1) sum += (channel[at] ?? 0) * (factors[at] ?? 0);
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

/** A dense band in the centre: sawtooth chords, bass, lead and drums. Nothing but its spectrum tells it from a voice. */
function band(length: number): Float32Array {
  const chords = [
    [220, 277.2, 329.6],
    [174.6, 220, 261.6],
    [261.6, 329.6, 392],
    [196, 246.9, 293.7],
  ];
  const noise = (at: number) => Math.sin(0.37 * at * at);
  const wave = (phase: number) => Math.sin(2 * Math.PI * phase);
  return Float32Array.from({ length }, (_, at) => {
    const time = at / RATE;
    const chord = chords[Math.floor(time / 2) % chords.length] ?? [];
    const beat = time % 0.5;
    const [low = 0] = chord;
    const lead = chord[Math.floor(4 * time) % chord.length] ?? 0;
    const saws = chord.reduce((sum, hertz) => sum + 0.4 * (((time * hertz) % 1) - 0.5), 0);
    const hat = 0.5 * Math.exp(-60 * (time % 0.25)) * noise(at);
    const snare = 0.8 * Math.exp(-20 * ((time + 0.5) % 1)) * noise(at + 7);
    const kick = Math.exp(-12 * beat) * wave((50 + 60 * Math.exp(-30 * beat)) * beat);
    const tune = 0.3 * Math.exp(-4 * (time % 0.25)) * Math.sign(wave(2 * lead * time));
    return saws + hat + snare + kick + 0.4 * wave((low / 2) * time) + tune;
  });
}

/** The share of the spoken time that is within segments. */
function foundShare({ said }: Speech, segments: readonly Segment[]): number {
  const seconds = (from: number, to: number) => Math.max(0, to - from);
  const found = said.flatMap(({ start, end }) =>
    segments.map((each) => seconds(Math.max(start, each.start), Math.min(end, each.end))),
  );
  const all = said.map(({ start, end }) => seconds(start, end));
  const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);
  return total(found) / total(all);
}

/** How loud a sound is on the left and on the right. */
type Pan = readonly [number, number];

/** Voice and music, each from one direction: the voice as it is, the music as its left channel. */
function placed({ voice, music }: Mix, pan: { readonly voice: Pan; readonly music: Pan | null }): Mix {
  const at = (channels: Channels, gains: Pan | null) =>
    gains === null
      ? channels
      : gains.map((gain) => (channels[0] ?? new Float32Array(0)).map((value) => gain * value));
  const truth = { voice: at(voice, pan.voice), music: at(music, pan.music) };
  return { ...truth, sum: add(truth.voice, truth.music) };
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
  interface Levels {
    readonly clip: keyof typeof CLIPS;
    readonly music: number;
    /** The least gains in SI-SDR: a dB or more below what was measured. */
    readonly least: { readonly voice: number; readonly background: number };
  }
  const levels = 'gives stems of $clip with music at $music dB that are nearer to the truth than the mix is';
  const areNearer = async ({ clip, music, least }: Levels) => {
    const truth = mix(CLIPS[clip](), music);
    const { sum, vocals, background } = await separateChannels(truth.sum);
    const under = describeMusic(music);
    const voice = compare(`voice: ${clip}, ${under}`, truth.voice, sum, vocals);
    const rest = compare(`background: ${clip}, ${under}`, truth.music, sum, background);
    expect(voice).toBeGreaterThan(least.voice);
    expect(rest).toBeGreaterThan(least.background);
  };
  test.each<Levels>([{ clip: 'prompt', music: 0, least: { voice: 3, background: 3 } }])(levels, areNearer);
  test.each<Levels>([
    { clip: 'prompts', music: 0, least: { voice: 3, background: 3 } },
    { clip: 'librivox', music: 12, least: { voice: 1, background: 8 } },
    { clip: 'prompts', music: -5, least: { voice: 0, background: 0 } },
    { clip: 'prompts', music: 6, least: { voice: 3, background: 6 } },
    { clip: 'prompts', music: 12, least: { voice: 2, background: 9 } },
    { clip: 'librivox', music: 6, least: { voice: 2, background: 5 } },
  ])(levels, FIGURE, areNearer);

  interface Directions {
    readonly where: string;
    readonly pan: { readonly voice: Pan; readonly music: Pan | null };
    readonly least: number;
    readonly clip?: keyof typeof CLIPS;
  }
  const directions = 'a voice $where music at 0 dB is nearer to the truth than the mix is';
  const voiceIsNearer = async ({ where, pan, least, clip = 'prompts' }: Directions) => {
    const truth = placed(mix(CLIPS[clip](), 0), pan);
    const { sum, vocals } = await separateChannels(truth.sum);
    const gain = compare(`voice ${where}, ${describeMusic(0)}`, truth.voice, sum, vocals);
    expect(gain).toBeGreaterThan(least);
  };
  test.each<Directions>([
    {
      ...{ where: 'only on the left under mono', pan: { voice: [1, 0], music: [1, 1] }, least: 15 },
      clip: 'prompt',
    },
  ])(directions, voiceIsNearer);
  test.each<Directions>([
    { where: 'only on the left under mono', pan: { voice: [1, 0], music: [1, 1] }, least: 15 },
    { where: 'on the left under stereo', pan: { voice: [1, 0.2], music: null }, least: 3 },
    { where: 'in the centre, on the right', pan: { voice: [1, 1], music: [0, 1] }, least: 15 },
    { where: 'half on the right under mono', pan: { voice: [0.5, 1], music: [1, 1] }, least: 15 },
    { where: 'a little on the left under mono', pan: { voice: [1, 0.8], music: [1, 1] }, least: 0 },
  ])(directions, FIGURE, voiceIsNearer);

  const isFound = async (clip: keyof typeof CLIPS, decibels: number) => {
    const speech = CLIPS[clip]();
    const { voice } = mix(speech, null);
    const music = band(speech.samples.length);
    // Speech has a root mean square of -20 dB.
    const gain = 10 ** ((-20 - decibels) / 20) / level([music]);
    const loud = music.map((value) => value * gain);
    const { segments } = await separateChannels(add(voice, [loud, loud]));
    const share = foundShare(speech, segments);
    const where = `${Math.abs(decibels)} dB ${decibels < 0 ? 'above' : 'below'}`;
    report(`speech that is found: ${clip}, a dense band ${where}`, 100 * share, '%');
    expect(share).toBeGreaterThan(decibels < 0 ? 0.6 : 0.8);
  };
  test('a prompt under a dense band at -5 dB is found', () => isFound('prompt', -5));
  test.each([0, -5])('prompts under a dense band at %d dB are found', FIGURE, (decibels) =>
    isFound('prompts', decibels),
  );

  test('a voice without music is unchanged', FIGURE, async () => {
    const truth = mix(CLIPS.librivox(), null);
    const after = fidelity(truth.voice, (await separateChannels(truth.sum)).vocals);
    report('voice: librivox, no music', after, 'dB');
    expect(after).toBeGreaterThan(25);
  });

  const clicksStay = async (clip: 'sentence' | 'librivox', music: number | null) => {
    const speech = CLIPS[clip]();
    const truth = mix(speech, music);
    const clicks = clicksFor(truth.sum[0]?.length ?? 0);
    const { vocals, background } = await separateChannels(add(truth.sum, clicks));
    const whole = product(clicks, clicks);
    const kept = 20 * Math.log10(Math.max(1e-9, product(clicks, background) / whole));
    const leaked = 20 * Math.log10(Math.max(1e-9, Math.abs(product(clicks, vocals)) / whole));
    report(`clicks in the background: ${clip}, ${describeMusic(music)}`, kept, 'dB');
    report(`clicks in the voice: ${clip}, ${describeMusic(music)}`, leaked, 'dB');
    expect(kept).toBeGreaterThan(-1.5);
    expect(leaked).toBeLessThan(-12);
    expect(fidelity(truth.voice, vocals)).toBeGreaterThan(fidelity(truth.voice, add(truth.sum, clicks)));
  };
  test('clicks of 2 ms stay in the background, under speech too', () => clicksStay('sentence', null));
  test.each([null, 12])(
    'clicks of 2 ms stay in the background of LibriVox over music (%s)',
    FIGURE,
    (music) => clicksStay('librivox', music),
  );
});
