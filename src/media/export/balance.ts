/** Balances a dub with the rest of the sound, so that the result is as loud as the source. */

import {
  integratedLoudness,
  type LoudnessBlocks,
  meterFilters,
  readBlocks,
  toEnergy,
} from '../audio/loudness.ts';
import { type Channels, mixUnplaced } from '../audio/mix-down.ts';
import { DECODER_LIMITS, ownInput, QUIET, untrustedInput } from '../programs/arguments.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun, OriginalAudio } from '../work.ts';

/** In decibels. */
export interface MixGains {
  readonly dub: number;
  /** Gain of the dub as it controls how far the original is lowered: the same for quiet and loud videos. */
  readonly key: number;
  /** Gain of the whole mix. */
  readonly mix: number;
}

const UNCHANGED: MixGains = { dub: 0, key: 0, mix: 0 };

export interface Sounds {
  /** The source as it is. */
  readonly source: LoudnessBlocks;
  /** The source in two channels, as it is mixed; surround sound may be quieter than before. */
  readonly stereo: LoudnessBlocks;
  /** The sound under the dub, before it is lowered; empty for none. */
  readonly rest: LoudnessBlocks;
  readonly dub: LoudnessBlocks;
}

/** Without a source that can be measured, a dub has the usual loudness of speech, in LUFS. */
const USUAL_LUFS = -18;
/** A source that is quieter is noise, and its dub could not be heard. */
const QUIETEST_LUFS = -50;
/**
 * How far the dub may be from the loudness of the source, in LU. 6 below, it is as loud as the voice in music that is 5
 * dB louder; a quieter one could not be understood. 3 above, it makes up for speech that is shorter than the original.
 */
const MOST_BELOW = 6;
const MOST_ABOVE = 3;
/** A smaller difference cannot be heard. */
const SAME_LU = 0.5;
/** Surround sound becomes up to 8 dB quieter in two channels, so that no sample is clipped. */
const MOST_MIX_GAIN = 12;
/** The gain is searched by halving a range of 9 dB: 2 to the power of 10 makes a hundredth of a decibel. */
const HALVINGS = 10;

/**
 * Returns the gains with which the mix is as loud as the source. Sounds are independent of each other, so their energies
 * add up.
 */
export function planGains(mode: OriginalAudio, sounds: Sounds): MixGains {
  const own = integratedLoudness(sounds.dub);
  if (own === null) return UNCHANGED;
  const lufs = (blocks: LoudnessBlocks) => Math.max(QUIETEST_LUFS, integratedLoudness(blocks) ?? USUAL_LUFS);
  const target = lufs(sounds.source);
  const key = KEY_LUFS - own;
  if (mode === 'mute') return { dub: target - own, key, mix: 0 };
  const aim = lufs(sounds.stereo);
  const loudness = (dub: number) => integratedLoudness(mixBlocks(mode, sounds, { dub, key, mix: 0 })) ?? aim;
  let least = aim - MOST_BELOW - own;
  let dub = aim + MOST_ABOVE - own;
  for (let step = 0; step < HALVINGS; step += 1) {
    const middle = (least + dub) / 2;
    if (loudness(middle) < aim) least = middle;
    else dub = middle;
  }
  const missing = target - loudness(dub);
  const mix = Math.abs(missing) <= SAME_LU ? 0 : Math.max(-MOST_MIX_GAIN, Math.min(MOST_MIX_GAIN, missing));
  return { dub, key, mix };
}

/** A dub this loud lowers the original by about 12 dB, so that it can still be heard under the dub. */
const KEY_LUFS = -29;

/**
 * Behavior of `sidechaincompress` with its arguments in `DUCKING`: its level is near the peaks of the dub, it rises immediately
 * and falls with a time constant of an eighth of a second.
 */
const DUCKING_FROM = toEnergy(-40);
const DUCKING_SLOPE = 7 / 8;
const DUCKING_PEAKS = toEnergy(7);
const DUCKING_RELEASE = Math.exp(-0.1 / 0.125);

/**
 * Lowers the original by about 12 dB within 20 ms while the dub speaks, and raises it again over half a second. The
 * threshold of -40 dB is above the silence of the dub.
 */
export const DUCKING = 'sidechaincompress=threshold=0.01:ratio=8:attack=20:release=500:makeup=1';

/** Returns the blocks of a mix. */
function mixBlocks(mode: OriginalAudio, { rest, dub }: Sounds, gains: MixGains): LoudnessBlocks {
  const gain = toEnergy(gains.dub);
  const key = toEnergy(gains.key) * DUCKING_PEAKS;
  let level = 0;
  return Float64Array.from({ length: Math.max(rest.length, dub.length) }, (_, at) => {
    const speech = dub[at] ?? 0;
    level = Math.max(speech * key, level * DUCKING_RELEASE);
    const isDucked = mode === 'duck' && level > DUCKING_FROM;
    const lowered = isDucked ? (DUCKING_FROM / level) ** DUCKING_SLOPE : 1;
    return (rest[at] ?? 0) * lowered + speech * gain;
  });
}

/** The sound of a video, and what a dub is mixed with. */
export interface Original {
  readonly video: string;
  /** Its sound; null if it has none. */
  readonly audio: Channels | null;
  readonly originalAudio: OriginalAudio;
  /** A WAV file of what remains of the sound, which only the mode `background` uses. */
  readonly background: string;
}

/** How loud they are. */
export type OriginalSounds = Omit<Sounds, 'dub'>;

/** Sounds to mix. Paths are files of the work folder. */
interface Balancing {
  readonly video: string;
  readonly originalAudio: OriginalAudio;
  readonly original: OriginalSounds;
  readonly dub: string;
  /** Inputs of ffmpeg for the mix: the dub, and the background if it is used. */
  readonly inputs: readonly string[];
  /** Returns the filters that mix the sound to `[sound]`. */
  readonly graph: (gains: MixGains) => string;
}

/** Names of files in the work folder. */
const FILES = {
  source: 'source.lufs',
  stereo: 'stereo.lufs',
  dub: 'dub.lufs',
  rest: 'rest.lufs',
  mix: 'mix.lufs',
};
const NOTHING = new Float64Array(0);
/** On the time line of the picture. */
const SOURCE = 'aresample=48000:async=1:first_pts=0';

/** Louder speech has peaks that the limiter lowers so far that the mix becomes clearly quieter. */
const LIMITED_FROM_LUFS = -16;
/** If the rest is at most 3 LU below the source, half of the energy is not in the dub. */
const MOSTLY_REST = 3;
/** Each round decodes all sound again, so there are few. */
const ROUNDS = 3;
/** A smaller difference is not worth another round: less than `SAME_LU`, so that the final encoding may add some. */
const CLOSE_LU = 0.3;
/** Distortion would be heard above. */
const MOST_INTO_LIMITER = 9;

/** Measures the dub of an export, and returns the gains with which the result is as loud as the source. */
export async function balanceSound(programs: Programs, task: Balancing, run: EngineRun): Promise<MixGains> {
  const graph = `[0:a]pan=stereo|c0=c0|c1=c0,${meterFilters(FILES.dub)}[m1]`;
  await programs.run('ffmpeg', measuring(ownInput(task.dub, 'wav'), graph, ['[m1]']), run);
  const sounds = { ...task.original, dub: await readBlocks(run.folder, FILES.dub) };
  const planned = planGains(task.originalAudio, sounds);
  const target = integratedLoudness(sounds.source);
  const withoutDub = { ...planned, dub: Number.NEGATIVE_INFINITY };
  const rest = integratedLoudness(mixBlocks(task.originalAudio, sounds, withoutDub));
  const isMostlyRest = target === null || (rest !== null && rest > target - MOSTLY_REST);
  if (planned === UNCHANGED || isMostlyRest || target < LIMITED_FROM_LUFS) return planned;
  let gains = planned;
  for (let round = 0; round < ROUNDS; round += 1) {
    const missing = target - (await measureMix(programs, task, gains, run));
    if (Math.abs(missing) <= CLOSE_LU) break;
    // Half of what is added is lost in the limiter.
    const dub = Math.min(gains.dub + 2 * missing, planned.dub + MOST_INTO_LIMITER);
    gains = { ...gains, dub };
  }
  return gains;
}

/** Measures all but the dub. */
export async function measureOriginal(
  programs: Programs,
  { video, audio, originalAudio, background }: Original,
  run: EngineRun,
): Promise<OriginalSounds> {
  const mixing = audio === null ? [] : mixUnplaced(audio);
  const isSurround = (audio?.channels ?? 0) > 2 && mixing.length === 0;
  const isBackground = originalAudio === 'background';
  // As the background was made from it: samples of 16 bits must not be clipped, which makes surround sound quieter.
  const format = isBackground ? 'sample_fmts=s16:channel_layouts=stereo' : 'channel_layouts=stereo';
  const source = isSurround
    ? [
        `[0:a:0]${SOURCE},asplit[whole][mixed]`,
        `[whole]${meterFilters(FILES.source)}[m1]`,
        `[mixed]aformat=${format},${meterFilters(FILES.stereo)}[m2]`,
      ]
    : [`[0:a:0]${[SOURCE, ...mixing].join(',')},${meterFilters(FILES.source)}[m1]`];
  const graph = [...source, ...(isBackground ? [`[1:a]${meterFilters(FILES.rest)}[m3]`] : [])];
  const outputs = ['[m1]', ...(isSurround ? ['[m2]'] : []), ...(isBackground ? ['[m3]'] : [])];
  const inputs = [...untrustedInput(video), ...(isBackground ? ownInput(background, 'wav') : [])];
  await programs.run('ffmpeg', measuring(inputs, graph.join(';'), outputs), {
    ...run,
    limits: DECODER_LIMITS,
  });
  const read = (file: string) => readBlocks(run.folder, file);
  const whole = await read(FILES.source);
  const stereo = isSurround ? await read(FILES.stereo) : whole;
  const rest = { background: () => read(FILES.rest), duck: async () => stereo, mute: async () => NOTHING };
  return { source: whole, stereo, rest: await rest[originalAudio]() };
}

/** Returns the loudness of the mix as it will be exported. */
async function measureMix(
  programs: Programs,
  { video, inputs, graph }: Balancing,
  gains: MixGains,
  run: EngineRun,
): Promise<number> {
  const whole = `${graph(gains)};[sound]${meterFilters(FILES.mix)}[m1]`;
  const args = measuring([...untrustedInput(video), ...inputs], whole, ['[m1]']);
  await programs.run('ffmpeg', args, { ...run, limits: DECODER_LIMITS });
  return integratedLoudness(await readBlocks(run.folder, FILES.mix)) ?? QUIETEST_LUFS;
}

function measuring(inputs: readonly string[], graph: string, outputs: readonly string[]): string[] {
  const maps = outputs.flatMap((output) => ['-map', output]);
  return [...QUIET, ...inputs, '-filter_complex', graph, ...maps, '-f', 'null', '-'];
}
