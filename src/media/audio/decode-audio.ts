/** Decodes the sound of a video into WAV files on the time line of the picture, and converts WAV files. */
import { join } from 'node:path';
import { LIMITS } from '../../protocol/limits.ts';
import { readAnyHeader, readHeader } from '../probe/facts.ts';
import {
  convertibleInput,
  DECODER_LIMITS,
  fileAddress,
  ownInput,
  QUIET,
  untrustedInput,
} from '../programs/arguments.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun, Work } from '../work.ts';
import { mixUnplaced, TURN_SECOND } from './mix-down.ts';
import { openWav } from './wav.ts';

/** The format of the stems. RNNoise supports only this rate. */
export const STEM_FORMAT = { sampleRate: 48_000, channels: 2 } as const;
/** The format for speech detection and recognition. */
export const SPEECH_FORMAT = { sampleRate: 16_000, channels: 1 } as const;

interface DecodedAudio {
  /** 48 kHz stereo. */
  readonly stereo: string;
  /** 16 kHz mono. */
  readonly mono: string;
}

/** File names in the work folder. */
export const AUDIO_FILES = {
  mix: 'mix.wav',
  mono: 'mix-16k.wav',
  centre: 'centre.wav',
  centreMono: 'centre-16k.wav',
} as const;

/**
 * Decodes the first audio stream of a video into the work folder. Sample 0 is the start of the video. A late start and
 * gaps in the sound are filled with silence. Channels that would cancel each other are turned to add up. From surround sound it also writes the centre channel alone, as loud as it is
 * in the mix, as `AUDIO_FILES.centre` and `centreMono`.
 * @param formats containers that are opened: those of the service, or all that this machine can put into them
 */
export async function decodeAudio(
  programs: Programs,
  video: string,
  work: Work,
  formats: 'service' | 'convertible' = 'service',
): Promise<DecodedAudio> {
  const [readOne, inputOf] =
    formats === 'service' ? [readHeader, untrustedInput] : [readAnyHeader, convertibleInput];
  const path = (name: keyof typeof AUDIO_FILES) => join(work.folder, AUDIO_FILES[name]);
  const { audio } = await readOne(programs, video, work);
  const layout = audio?.channel_layout ?? '';
  const filters = audio === null ? [] : mixUnplaced(audio);
  const outputs = [output(path('mix'), STEM_FORMAT, filters), output(path('mono'), SPEECH_FORMAT, filters)];
  if (WITH_CENTRE.has(layout)) {
    // Mixed down like the whole sound, with silence in the other channels, so that it has the same level in both.
    const alone = [`pan=${layout}|FC=FC`, 'aformat=channel_layouts=stereo'];
    outputs.push(output(path('centre'), STEM_FORMAT, alone));
    outputs.push(output(path('centreMono'), SPEECH_FORMAT, [...alone, 'pan=mono|c0=c0']));
  }
  const decode = (files: readonly string[]) =>
    programs.run('ffmpeg', [...QUIET, ...inputOf(video), ...files], {
      ...work,
      limits: DECODER_LIMITS,
    });
  await decode(outputs.flat());
  if (audio?.channels === 2 && (await cancels(path('mix'), work.signal))) {
    const turned = [TURN_SECOND];
    await decode(
      [output(path('mix'), STEM_FORMAT, turned), output(path('mono'), SPEECH_FORMAT, turned)].flat(),
    );
  }
  return { stereo: path('mix'), mono: path('mono') };
}

/** Less correlation than this leaves less than a tenth of the energy in the sum of the channels; wide stereo has more than -0.5. */
const CANCELLING = -0.8;
/** Frames that are read at a time. */
const BLOCK = 65_536;

/** Whether two channels cancel each other when they are added: one of them is upside down. */
async function cancels(path: string, signal: AbortSignal): Promise<boolean> {
  const wav = await openWav(path);
  try {
    let [left, right, both] = [0, 0, 0];
    for (let at = 0; at < wav.frames; at += BLOCK) {
      signal.throwIfAborted();
      const samples = await wav.read(at, Math.min(BLOCK, wav.frames - at));
      for (let place = 0; place < samples.length; place += 2) {
        const [one, other] = [samples[place] ?? 0, samples[place + 1] ?? 0];
        left += one * one;
        right += other * other;
        both += one * other;
      }
    }
    return both < CANCELLING * Math.sqrt(left * right);
  } finally {
    await wav.close();
  }
}

/** ffmpeg's names of the layouts with more than two channels, one of them in the front centre: there films have their dialogue. */
const WITH_CENTRE: ReadonlySet<string> = new Set(
  (
    '3.0 3.1 4.0 4.1 5.0 5.0(side) 5.1 5.1(side) 6.0 6.1 6.1(back) 7.0 7.0(front) ' +
    '7.1 7.1(wide) 7.1(wide-side) hexagonal octagonal hexadecagonal 22.2'
  ).split(' '),
);

function output(
  path: string,
  format: { sampleRate: number; channels: number },
  filters: readonly string[],
): string[] {
  return [
    // A forged header must not fill the disk: nothing after the longest allowed duration is decoded.
    ...['-map', '0:a:0', '-t', String(LIMITS.videoSeconds + 1)],
    ...['-af', [`aresample=${format.sampleRate}:async=1:first_pts=0`, ...filters].join(',')],
    ...['-ac', String(format.channels), '-c:a', 'pcm_s16le'],
    // Do not copy tags of the video into the WAV files.
    ...['-map_metadata', '-1', '-fflags', '+bitexact', '-f', 'wav', fileAddress(path)],
  ];
}

interface WavTarget {
  readonly sampleRate: number;
  /** Default: as in the input. */
  readonly channels?: number;
  /** Exact length in frames: longer sound is cut, shorter sound is padded with silence. Default: as in the input. */
  readonly frames?: number;
}

/** Writes a 16-bit WAV file from another WAV file. Returns its path. @throws ChildFailure if the input is no WAV file */
export async function convertWav(
  programs: Programs,
  from: string,
  to: string,
  { sampleRate, channels, frames }: WavTarget,
  run: EngineRun,
): Promise<string> {
  const exact =
    frames === undefined
      ? []
      : ['-af', `aresample=${sampleRate},apad=whole_len=${frames},atrim=end_sample=${frames}`];
  const layout = channels === undefined ? [] : ['-ac', String(channels)];
  const args = [
    ...[...QUIET, ...ownInput(from, 'wav'), ...exact, ...layout, '-ar', String(sampleRate)],
    ...['-c:a', 'pcm_s16le', '-f', 'wav', fileAddress(to)],
  ];
  await programs.run('ffmpeg', args, run);
  return to;
}
