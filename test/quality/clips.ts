/**
 * Clips for measurements: recorded speech with known words at known times, synthetic music, mixes of both at a known ratio, and
 * videos with them in any layout and at any sample rate.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom } from '../client/simulation/random.ts';

/** The prompts of a telephone exchange, spoken by Allison Smith, CC BY-SA 3.0: Debian's `asterisk-core-sounds-en-g722`, 16 kHz. */
const PROMPTS = '/usr/share/asterisk/sounds/en_US_f_Allison';
/** Five sentences of a LibriVox recording, public domain: Debian's `pocketsphinx-testdata`, 16 kHz. */
const LIBRIVOX = '/usr/share/pocketsphinx/test/data/librivox';

/** For the titles of tests that are skipped without them. */
export const NEEDED = 'needs asterisk-core-sounds-en-g722 and pocketsphinx-testdata: sh .ci/packages';
export const HAS_CLIPS = existsSync(join(PROMPTS, 'demo-congrats.g722')) && existsSync(LIBRIVOX);

/**
 * What is said, from the package's own list (`core-sounds-en.txt`), with numbers and letters as they are spoken. Settings may be
 * chosen by those of `tuning`, never by those of `heldOut`, which give the figures of docs/quality.md.
 */
const WORDS = {
  heldOut: {
    'demo-congrats':
      'congratulations you have successfully installed and executed the asterisk open source p b x you have also installed a set of ' +
      'sample sounds and configuration files that should help you to get started like a normal p b x you will navigate this ' +
      'demonstration by dialing digits if you are using a console channel driver instead of a real phone you can use the dial ' +
      'answer and hang up commands to simulate the actions of a standard telephone',
    'demo-nogo':
      'i am afraid i was unable to create a connection to the digium demonstration asterisk server you may find some helpful ' +
      'debugging information on the asterisk console',
    'tt-allbusy':
      'all representatives of the household are currently assisting other telemarketers please hold and your call will be ' +
      'answered in the order it was received',
    'queue-periodic-announce':
      'all of our representatives are currently busy please stay on the line and your call will be answered by the next available ' +
      'representative',
    'privacy-unident': 'the party you are trying to reach does not accept unidentified calls',
    'ss-noservice': 'the number you have dialed is not in service please check the number and try again',
    'followme/sorry': "i'm sorry but i was unable to locate the person you are calling",
  },
  tuning: {
    'demo-echotest':
      'you are about to enter an echo test in this mode everything you say will be repeated back to you just as soon as it is ' +
      'received the purpose of this test is to give you an audible sense of the latency between you and the machine that is ' +
      'running the echo test application you may end the test by hanging up or by pressing the pound key',
    'demo-abouttotry':
      'i am about to attempt an inter asterisk exchange connection to a demonstration server located at digium in order for this ' +
      'to work you must already be connected to the internet please wait a moment while i attempt to make the connection',
    'confbridge-mute-extended':
      'to mute or unmute yourself when you are muted you can not send audio to other participants however you will still hear ' +
      'audio from other unmuted participants',
    'queue-youarenext':
      'your call is now first in line and will be answered by the next available representative',
    'pbx-invalidpark': 'i am sorry there is no call parked on that extension please try again',
    'priv-introsaved': 'thank you please hold while i attempt to connect you with your party',
    'followme/status': 'the person you are calling is not at their desk i will try to locate them for you',
    'confbridge-pin-bad': 'you have entered too many invalid personal identification numbers',
    'privacy-prompt': 'please enter your phone number starting with the area code',
    'check-number-dial-again': 'please check the number and dial again',
    'tt-monkeysintro': 'they have been carried away by monkeys',
    'vm-nonumber': "i'm afraid i don't know who sent this message",
  },
  librivox: {
    '0870':
      'and mister john dashwood had then leisure to consider how much there might be prudently in his power to do for them',
    '0880': 'he was not an ill disposed young man',
    '0890': 'unless to be rather cold hearted and rather selfish is to be ill disposed',
    '0920':
      'had he married a more a amiable woman he might have been made still more respectable than he was',
    '0930': 'he might even have been made amiable himself',
  },
} as const;

export type SpeechSet = keyof typeof WORDS;

/** Samples per second of all clips in memory; videos may have another rate. */
export const RATE = 48_000;

/** The channels of a sound, each at full scale 1, of the same length. */
export type Channels = readonly Float32Array[];

interface Said {
  readonly name: string;
  readonly words: string;
  /** Seconds from the start of the sound; the first and the last sound of the voice, without silence. */
  readonly start: number;
  readonly end: number;
  /** Seconds from the start of the sound to the first word, without breath and rumble before it. */
  readonly firstWord: number;
}

/** Speech on one channel. */
export interface Speech {
  readonly samples: Float32Array;
  /** In order of time. */
  readonly said: readonly Said[];
}

/** Returns the names of the recordings of a set, in order. */
export function recordings(set: SpeechSet): string[] {
  return Object.keys(WORDS[set]);
}

/**
 * Returns recordings one after the other.
 * @param names default: all of the set
 * @param pause seconds of silence before, between and after them
 */
export function speak(set: SpeechSet, names: readonly string[] = recordings(set), pause = 1): Speech {
  const said: Said[] = [];
  const silence = new Float32Array(Math.round(pause * RATE));
  const parts: Float32Array[] = [silence];
  let at = silence.length;
  for (const name of names) {
    const samples = decode(set === 'librivox' ? librivox(name) : join(PROMPTS, `${name}.g722`));
    const words = (WORDS[set] as Readonly<Record<string, string>>)[name]; // a name of another set is an error
    if (words === undefined) throw new Error(`"${name}" is not a recording of "${set}"`);
    const { first, last } = audible(samples);
    const firstWord = at / RATE + findFirstWord(samples);
    said.push({ name, words, start: (at + first) / RATE, end: (at + last) / RATE, firstWord });
    parts.push(samples, silence);
    at += samples.length + silence.length;
  }
  return { samples: join32(parts), said };
}

function librivox(number: string): string {
  return join(LIBRIVOX, `sense_and_sensibility_01_austen_64kb-${number}.wav`);
}

function join32(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Decodes the sound of a file to one channel; for videos see `decodeChannels`. */
function decode(path: string): Float32Array {
  return decodeChannels(path, 1)[0] ?? new Float32Array(0);
}

/** Decodes the first sound of a file with the given number of channels. */
export function decodeChannels(path: string, count: number): Channels {
  const args = ['-v', 'error', '-i', path, '-map', '0:a:0', '-ac', String(count), '-ar', String(RATE)];
  const bytes = execFileSync('ffmpeg', [...args, '-f', 'f32le', '-'], { maxBuffer: 2 ** 30 });
  const all = new Float32Array(new Uint8Array(bytes).buffer);
  return Array.from({ length: count }, (_, channel) => {
    const samples = new Float32Array(all.length / count);
    for (let at = 0; at < samples.length; at += 1) samples[at] = all[at * count + channel] ?? 0;
    return samples;
  });
}

/** Softer sound before the first word is breath and noise of the recording. */
const AUDIBLE_BELOW_PEAK = 0.02;

function audible(samples: Float32Array): { first: number; last: number } {
  const limit = AUDIBLE_BELOW_PEAK * samples.reduce((peak, value) => Math.max(peak, Math.abs(value)), 0);
  const isAudible = (value: number) => Math.abs(value) > limit;
  return { first: samples.findIndex(isAudible), last: samples.findLastIndex(isAudible) };
}

/** Below the lowest voices; recordings have rumble there, as loud as soft consonants. In hertz. */
const RUMBLE = 120;
/** Samples whose level is measured: 10 ms. */
const BLOCK = RATE / 100;
/** Vowels are at most this much softer than the loudest third of a recording, in decibels; consonants that begin a word, this much. */
const VOWEL_BELOW = 8;
const CONSONANT_BELOW = 26;
/** A longer silence, in blocks, is between a breath and a word; shorter ones are inside words, before a p, t or k. */
const LONGEST_STOP = 7;

/** Returns the seconds until the first word: from its first vowel back to the silence before it, which may follow a breath. */
function findFirstWord(samples: Float32Array): number {
  const voice = removeRumble(removeRumble(samples));
  const levels = Array.from(
    { length: Math.floor(voice.length / BLOCK) },
    (_, block) => 20 * Math.log10(level([voice.subarray(block * BLOCK, (block + 1) * BLOCK)]) + 1e-6),
  );
  const loud = levels.toSorted((a, b) => b - a)[Math.floor(levels.length / 3)] ?? 0;
  let first = levels.findIndex((decibels) => decibels > loud - VOWEL_BELOW);
  for (let block = first; block >= 0 && first - block <= LONGEST_STOP; block -= 1) {
    if ((levels[block] ?? 0) > loud - CONSONANT_BELOW) first = block;
  }
  return (first * BLOCK) / RATE;
}

/** A high-pass filter of 6 dB per octave. */
function removeRumble(samples: Float32Array): Float32Array {
  const keep = Math.exp((-2 * Math.PI * RUMBLE) / RATE);
  let previous = 0;
  let value = 0;
  return samples.map((sample) => {
    value = keep * (value + sample - previous);
    previous = sample;
    return value;
  });
}

/** Chords of four notes, in Hz: A minor, F, C and G, as in thousands of songs. */
const CHORDS = [
  [110, 220, 261.6, 329.6],
  [87.3, 174.6, 220, 261.6],
  [130.8, 196, 261.6, 329.6],
  [98, 196, 246.9, 293.7],
] as const;
const CHORD_SECONDS = 2;
const BEAT_SECONDS = 0.5;
/** One period of a note: six harmonics, each 0.6 times as strong as the one below it, as in plucked strings. */
const WAVE = Float32Array.from({ length: 4096 }, (_, at) =>
  [1, 2, 3, 4, 5, 6].reduce(
    (sum, harmonic) => sum + 0.6 ** (harmonic - 1) * Math.sin((2 * Math.PI * harmonic * at) / 4096),
    0,
  ),
);

/** By length and seed: tests mix the same music under speech at several levels. */
const MUSIC = new Map<string, Channels>();

/** Returns music in stereo, made once; nobody writes into it. */
function music(seconds: number, seed = 1): Channels {
  const key = `${seconds} ${seed}`;
  const made = MUSIC.get(key) ?? makeMusic(seconds, seed);
  MUSIC.set(key, made);
  return made;
}

/**
 * Makes music in stereo, always the same for the same length and seed: chords whose notes are spread between left and right,
 * a melody, and a drum on every beat with noise after every second one. Root mean square 0.1.
 */
function makeMusic(seconds: number, seed: number): Channels {
  const length = Math.round(seconds * RATE);
  const channels = [new Float32Array(length), new Float32Array(length)] as const;
  const random = createRandom(seed);
  for (let from = 0; from < length; from += CHORD_SECONDS * RATE) {
    const chord = CHORDS[Math.round(from / RATE / CHORD_SECONDS) % CHORDS.length] ?? CHORDS[0];
    for (const [index, hertz] of chord.entries()) {
      addNote(channels, {
        from,
        seconds: CHORD_SECONDS,
        hertz,
        gain: 0.1,
        pan: (index + 0.5) / chord.length,
      });
    }
  }
  for (let from = 0; from < length; from += BEAT_SECONDS * RATE) {
    const chord = CHORDS[Math.floor(from / RATE / CHORD_SECONDS) % CHORDS.length] ?? CHORDS[0];
    const hertz = 2 * (chord[Math.floor(random() * chord.length)] ?? chord[0]);
    addNote(channels, { from, seconds: BEAT_SECONDS, hertz, gain: 0.12, pan: 0.3 + 0.4 * random() });
    addDrum(channels, from, Math.round(from / RATE / BEAT_SECONDS) % 2 === 1, random);
  }
  const gain = 0.1 / level(channels);
  return channels.map((channel) => channel.map((value) => value * gain));
}

function addNote(
  [left, right]: readonly [Float32Array, Float32Array],
  note: { from: number; seconds: number; hertz: number; gain: number; pan: number },
): void {
  const { from, hertz, gain, pan } = note;
  const end = Math.min(left.length, from + Math.round(note.seconds * RATE));
  for (let at = from; at < end; at += 1) {
    const time = (at - from) / RATE;
    // 10 ms to begin and to end without a click; between them it fades like a string.
    const envelope =
      Math.min(1, time / 0.01, (end - at) / RATE / 0.01) * Math.exp((-1.5 * time) / note.seconds);
    const value = WAVE[Math.floor(time * hertz * WAVE.length) % WAVE.length] ?? 0;
    left[at] = (left[at] ?? 0) + gain * envelope * value * (1 - pan);
    right[at] = (right[at] ?? 0) + gain * envelope * value * pan;
  }
}

/** A drum of 60 Hz, and after every second beat a snare of noise, both centred. */
function addDrum(
  [left, right]: readonly [Float32Array, Float32Array],
  from: number,
  isSnare: boolean,
  random: () => number,
): void {
  const end = Math.min(left.length, from + Math.round(0.2 * RATE));
  for (let at = from; at < end; at += 1) {
    const time = (at - from) / RATE;
    const drum = 0.5 * Math.exp(-20 * time) * Math.sin(2 * Math.PI * 60 * time);
    const snare = isSnare ? 0.15 * Math.exp(-30 * time) * (2 * random() - 1) : 0;
    left[at] = (left[at] ?? 0) + drum + snare;
    right[at] = (right[at] ?? 0) + drum + snare;
  }
}

/** Returns the root mean square of all channels. */
export function level(channels: Channels): number {
  let sum = 0;
  for (const channel of channels) for (const value of channel) sum += value * value;
  return Math.sqrt(sum / Math.max(1, channels.length * (channels[0]?.length ?? 0)));
}

export interface Mix {
  /** Centred: the same on both channels. */
  readonly voice: Channels;
  /** All zeros without music. */
  readonly music: Channels;
  readonly sum: Channels;
}

/** Speech is this loud while it lasts, in decibels below full scale (root mean square). */
const SPEECH_DB = -20;

/**
 * Mixes speech with music under it, in stereo.
 * @param decibels how much louder the speech is than the music, by the root mean square while there is speech; null without music
 */
export function mix({ samples, said }: Speech, decibels: number | null, seed = 1): Mix {
  const spoken = said.map(({ start, end }) =>
    samples.subarray(Math.round(start * RATE), Math.round(end * RATE)),
  );
  const gain = 10 ** (SPEECH_DB / 20) / level([join32(spoken)]);
  const channel = samples.map((value) => value * gain);
  const voice = [channel, channel];
  const full =
    decibels === null
      ? voice.map(() => new Float32Array(channel.length))
      : music(samples.length / RATE, seed);
  const musicGain = decibels === null ? 0 : 10 ** ((SPEECH_DB - decibels) / 20) / level(full);
  const quiet = full.map((values) => values.map((value) => value * musicGain));
  const sum = voice.map((values, index) => values.map((value, at) => value + (quiet[index]?.[at] ?? 0)));
  return { voice, music: quiet, sum };
}

/** `5.1` has the voice in the centre channel and the music in the others; `5.1-centre-silent` has both in the front channels. */
export type Layout = 'mono' | 'stereo' | '5.1' | '5.1-centre-silent';

/** Returns the channels of a layout: left, right, centre, low frequencies, back left, back right. */
export function layOut({ voice, music: under, sum }: Mix, layout: Layout): Channels {
  const [left = new Float32Array(0), right = left] = sum;
  const silence = new Float32Array(left.length);
  if (layout === 'stereo') return sum;
  if (layout === 'mono') return [left.map((value, at) => (value + (right[at] ?? 0)) / 2)];
  if (layout === '5.1-centre-silent') return [left, right, silence, silence, silence, silence];
  const [front = silence, other = silence] = under;
  const half = (values: Float32Array) => values.map((value) => value / 2);
  return [front, other, voice[0] ?? silence, silence, half(front), half(other)];
}

interface VideoOptions {
  /** Samples per second of its sound. Default: 48,000. */
  readonly rate?: number;
  /** Input of ffmpeg for the picture, without its length. Default: a moving test picture of 320 × 180, ten a second. */
  readonly picture?: string;
  /** Arguments of ffmpeg for the codecs. Default: H.264 and AAC. */
  readonly codecs?: readonly string[];
}

const CODECS = [
  '-c:v',
  'libx264',
  '-preset',
  'ultrafast',
  '-pix_fmt',
  'yuv420p',
  '-c:a',
  'aac',
  '-b:a',
  '192k',
];

/** Writes a video with the sound of these channels: one, two, or six for 5.1. Returns its path. */
export function writeVideo(path: string, channels: Channels, options: VideoOptions = {}): string {
  const { rate = RATE, picture = 'testsrc=s=320x180:r=10', codecs = CODECS } = options;
  const frames = channels[0]?.length ?? 0;
  const samples = new Float32Array(frames * channels.length);
  for (const [channel, values] of channels.entries()) {
    for (let at = 0; at < frames; at += 1) samples[at * channels.length + channel] = values[at] ?? 0;
  }
  const layout = channels.length === 6 ? 'pan=5.1|FL=c0|FR=c1|FC=c2|LFE=c3|BL=c4|BR=c5' : 'anull';
  const seconds = String(frames / RATE);
  const args = [
    ...['-v', 'error', '-y', '-f', 'lavfi', '-i', `${picture},trim=duration=${seconds}`],
    ...['-f', 'f32le', '-ar', String(RATE), '-ac', String(channels.length), '-i', 'pipe:0'],
    ...['-map', '0:v', '-map', '1:a', '-af', layout, '-ar', String(rate), ...codecs, path],
  ];
  execFileSync('ffmpeg', args, { input: Buffer.from(samples.buffer), stdio: ['pipe', 'ignore', 'inherit'] });
  return path;
}
