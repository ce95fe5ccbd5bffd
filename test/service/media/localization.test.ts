/** `auto_localization`: each option, measured on the returned video. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { between, decodeSound, loudness, onset, presence, type Sound } from '../../support/audio.ts';
import {
  type Cue,
  changedPixels,
  lowerPicture,
  pictureSize,
  pictureSums,
  probeStreams,
  readCues,
} from '../../support/media.ts';
import { fundamental } from '../../support/pitch.ts';
import { openStudio, PATIENCE, type Studio, secondClip } from './studio.ts';

/** Of the small source: 25 pictures a second. */
const PICTURE_SECONDS = 1 / 25;
/** The clip is spoken from here; before, there is music alone. */
const MUSIC = [0.1, 0.8] as const;

/** Options of each job. All work on the same sound, so that they share the times of the cues. */
const LARGE_JOBS = {
  female: { voice_mode: 'female', original_audio: 'mute', subtitle_output: 'soft', resolution: '1080p' },
  male: { voice_mode: 'male', original_audio: 'mute', subtitle_output: 'burned', resolution: '720p' },
  ducked: { voice_mode: 'auto', original_audio: 'duck', subtitle_output: 'none', resolution: '480p' },
};
const SMALL_JOBS = {
  plain: {},
  subtitles: { mode: 'subtitles_only', resolution: '1080p' },
};
type Name = keyof typeof LARGE_JOBS | keyof typeof SMALL_JOBS;

let studio: Studio;
/** 640×360, and the same at 2048×1152 with fewer pictures, which are quick to encode and larger than each resolution. */
let small: string;
let large: string;
let cues: Cue[];
const results = new Map<string, string>();
const resultOf = (name: Name) => results.get(name) ?? '';

beforeAll(async () => {
  studio = await openStudio();
  small = secondClip(studio.folder, 'small.mp4');
  large = secondClip(studio.folder, 'large.mp4', '-vf', 'scale=2048:1152,fps=5');
  // One after the other, so that the sound, which is the same, is recognized once.
  await localizeAll(small, SMALL_JOBS);
  await localizeAll(large, LARGE_JOBS);
  cues = readCues(resultOf('female'));
}, PATIENCE.timeout);
afterAll(() => studio.close());

async function localizeAll(video: string, jobs: Record<string, Record<string, string>>): Promise<void> {
  const source = { type: 'upload', upload_id: await studio.upload(video, 'source_video') };
  const body = { source, source_language: 'en', target_language: 'es' };
  const localize = async ([name, options]: [string, Record<string, string>]) => {
    const { result } = await studio.run('auto-localizations', { ...body, ...options });
    expect(Object.keys(result).sort()).toEqual(['duration_seconds', 'video']);
    results.set(name, await studio.fetch(result.video, `${name}.mp4`));
  };
  for (const job of Object.entries(jobs)) await localize(job);
}

const codecs = (name: Name) => probeStreams(resultOf(name)).streams.map((stream) => stream.codec_name);
/** How much of the source's sound is in the result, between two times in seconds. */
const share = (name: Name, [from, to]: readonly [number, number]) =>
  presence(between(decodeSound(small), from, to), between(decodeSound(resultOf(name)), from, to));
/** The time from the first cue's start to the last one's end, in which nearly all of the clip is spoken. */
const spokenTime = (): readonly [number, number] => [cues[0]?.start ?? 0, cues.at(-1)?.end ?? 0];

it.each([...Object.keys(SMALL_JOBS), ...Object.keys(LARGE_JOBS)])(
  'a localized video (%s) is an MP4 as long as the source',
  (name) => {
    const { duration } = probeStreams(results.get(name) ?? '');
    expect(Math.abs(duration - probeStreams(small).duration)).toBeLessThan(2 * PICTURE_SECONDS);
  },
);

describe('mode', () => {
  it('standard is the default, dubs and does not change the pictures', () => {
    expect(pictureSums(resultOf('plain'))).toEqual(pictureSums(small));
    expect(codecs('plain')).toEqual(['h264', 'aac']);
    expect(probeStreams(resultOf('plain')).streams[1]?.tags?.language).toBe('spa');
  });

  it('subtitles_only does not change the sound, and adds a track of the target language', () => {
    expect(codecs('subtitles')).toEqual(['h264', 'aac', 'mov_text']);
    expect(decodeSound(resultOf('subtitles')).samples).toEqual(decodeSound(small).samples);
    expect(readCues(resultOf('subtitles'))).toEqual(cues);
  });
});

describe('voice_mode', () => {
  it('female speaks higher than male by half and more', PATIENCE, () => {
    const [female, male] = [resultOf('female'), resultOf('male')].map((file) =>
      fundamental(decodeSound(file)),
    );
    expect(female).toBeGreaterThan(1.4 * (male ?? Number.NaN));
  });
});

describe('subtitle_output', () => {
  it('none adds no track and changes nothing in the lower picture', () => {
    expect(codecs('ducked')).toEqual(['h264', 'aac']);
    const size = pictureSize(resultOf('ducked'));
    for (const { start, end } of cues) expect(changes('ducked', large, (start + end) / 2, size)).toBe(0);
  });

  it('soft adds a track of the target language, with cues in Spanish inside the video', () => {
    const track = probeStreams(resultOf('female')).streams[2];
    expect([track?.codec_name, track?.tags?.language]).toEqual(['mov_text', 'spa']);
    expect(cues.length).toBeGreaterThan(0);
    expect(cues.map((cue) => cue.text).join(' ')).toMatch(/\b(el|la|los|que|de|un|una|su|para)\b/i);
    for (const { start, end } of cues)
      expect([start > 0, end < 4.4, start < end]).toEqual([true, true, true]);
  });

  it('burned is in the picture while a cue lasts and not outside of cues', () => {
    expect(codecs('male')).toEqual(['h264', 'aac']);
    const size = pictureSize(resultOf('male'));
    const pixels = size.width * size.height;
    for (const { start, end } of cues) {
      expect(changes('male', large, (start + end) / 2, size)).toBeGreaterThan(pixels / 1000);
    }
    const [first, last] = spokenTime();
    for (const at of [first - 0.5, last + 0.5]) expect(changes('male', large, at, size)).toBe(0);
  });

  function changes(name: Name, source: string, at: number, size: ReturnType<typeof pictureSize>): number {
    return changedPixels(lowerPicture(resultOf(name), at, size), lowerPicture(source, at, size));
  }
});

describe('original_audio', () => {
  it('background keeps the music and removes the voice', () => {
    expect(share('plain', MUSIC)).toBeGreaterThan(0.9);
    expect(Math.abs(share('plain', spokenTime()))).toBeLessThan(0.25);
  });

  it('duck keeps the music, and the voice some 12 dB lower', () => {
    expect(share('ducked', MUSIC)).toBeGreaterThan(0.9);
    const lowered = share('ducked', spokenTime());
    expect(lowered).toBeGreaterThan(0.1);
    expect(lowered).toBeLessThan(0.5);
  });

  it('mute keeps neither: a dub that begins within 100 ms of each cue is all that is heard', () => {
    expect(Math.abs(share('female', spokenTime()))).toBeLessThan(0.1);
    const dub: Sound = decodeSound(resultOf('female'));
    const speech = loudness(dub.samples);
    expect(loudness(between(dub, ...MUSIC))).toBeLessThan(speech / 1000);
    for (const { start, text } of cues) {
      const begin = onset(dub, Math.max(0, start - 0.1), speech / 10);
      expect(Math.abs((begin ?? Number.POSITIVE_INFINITY) - start), text).toBeLessThanOrEqual(0.1);
    }
  });
});

describe('resolution', () => {
  it.each([
    ['female', '1080p', { width: 1920, height: 1080 }],
    ['male', '720p', { width: 1280, height: 720 }],
    ['ducked', '480p', { width: 854, height: 480 }],
    ['plain', 'source', { width: 640, height: 360 }],
  ] as const)('of %s is %s', (name, _option, size) => {
    expect(pictureSize(resultOf(name))).toEqual(size);
  });

  it('never makes a picture larger: 1080p does not change one of 360 rows', () => {
    expect(pictureSums(resultOf('subtitles'))).toEqual(pictureSums(small));
  });
});
