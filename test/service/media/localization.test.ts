/** `auto_localization`: each option, measured on the returned video. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readMark } from '../../../src/media/export/mark.ts';
import { ffprobe } from '../../engines/workspace.ts';
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

/** The clip is spoken from here; before, there is music alone. */
const MUSIC = [0.1, 0.8] as const;

/** Options of each job. All work on the same video, so that they share the times of the cues. */
const JOBS = {
  female: { voice_mode: 'female', original_audio: 'mute', subtitle_output: 'soft' },
  male: { voice_mode: 'male', original_audio: 'mute', subtitle_output: 'burned', resolution: '480p' },
  subtitles: { mode: 'subtitles_only', resolution: '1080p' },
};
type Name = keyof typeof JOBS;

let studio: Studio;
let source: string;
let cues: Cue[];
const results = new Map<string, string>();
const resultOf = (name: Name) => results.get(name) ?? '';

beforeAll(async () => {
  studio = await openStudio();
  // Few pictures a second, which are quick to encode.
  source = secondClip(studio.folder, 'source.mp4', '-vf', 'scale=1280:720,fps=5');
  const upload = { type: 'upload', upload_id: await studio.upload(source, 'source_video') };
  const body = { source: upload, source_language: 'en', target_language: 'es' };
  // One after the other, so that the sound is recognized once.
  for (const [name, options] of Object.entries(JOBS)) {
    const { result } = await studio.run('auto-localizations', { ...body, ...options });
    expect(Object.keys(result).sort()).toEqual(['duration_seconds', 'video']);
    results.set(name, await studio.fetch(result.video, `${name}.mp4`));
  }
  cues = readCues(resultOf('female'));
}, PATIENCE.timeout);
afterAll(() => studio.close());

const codecs = (name: Name) => probeStreams(resultOf(name)).streams.map((stream) => stream.codec_name);
/** The time from the first cue's start to the last one's end, in which nearly all of the clip is spoken. */
const spokenTime = (): readonly [number, number] => [cues[0]?.start ?? 0, cues.at(-1)?.end ?? 0];

it('is an MP4 as long as the source', () => {
  for (const file of results.values()) {
    expect(Math.abs(probeStreams(file).duration - probeStreams(source).duration)).toBeLessThan(2 / 25);
  }
});

it('subtitles_only does not change the sound, makes no picture larger, adds a track of the target language, and is not marked as synthetic speech', () => {
  expect(codecs('subtitles')).toEqual(['h264', 'aac', 'mov_text']);
  expect(decodeSound(resultOf('subtitles')).samples).toEqual(decodeSound(source).samples);
  expect(pictureSums(resultOf('subtitles'))).toEqual(pictureSums(source));
  expect(readCues(resultOf('subtitles'))).toEqual(cues);
  expect(readMark(ffprobe(resultOf('subtitles'), 'format_tags=comment'))?.synthetic_speech).toBe(false);
});

it('female speaks higher than male by half and more', PATIENCE, () => {
  const [female, male] = [resultOf('female'), resultOf('male')].map((file) => fundamental(decodeSound(file)));
  expect(female).toBeGreaterThan(1.4 * (male ?? Number.NaN));
});

it('soft adds a track of the target language, with cues in Spanish inside the video', () => {
  const track = probeStreams(resultOf('female')).streams[2];
  expect([track?.codec_name, track?.tags?.language]).toEqual(['mov_text', 'spa']);
  expect(cues.length).toBeGreaterThan(0);
  expect(cues.map((cue) => cue.text).join(' ')).toMatch(/\b(el|la|los|que|de|un|una|su|para)\b/i);
  for (const { start, end } of cues) expect([start > 0, end < 4.4, start < end]).toEqual([true, true, true]);
});

it('burned is in the picture while a cue lasts and not outside of cues', () => {
  expect(codecs('male')).toEqual(['h264', 'aac']);
  const size = pictureSize(resultOf('male'));
  expect(size).toEqual({ width: 854, height: 480 });
  const changes = (at: number) =>
    changedPixels(lowerPicture(resultOf('male'), at, size), lowerPicture(source, at, size));
  for (const { start, end } of cues) {
    expect(changes((start + end) / 2)).toBeGreaterThan((size.width * size.height) / 1000);
  }
  const [first, last] = spokenTime();
  for (const at of [first - 0.5, last + 0.5]) expect(changes(at)).toBe(0);
});

it('mute keeps neither voice nor music: a dub that begins within 100 ms of each cue is all that is heard', () => {
  const dub: Sound = decodeSound(resultOf('female'));
  const [from, to] = spokenTime();
  expect(Math.abs(presence(between(decodeSound(source), from, to), between(dub, from, to)))).toBeLessThan(
    0.1,
  );
  const speech = loudness(dub.samples);
  expect(loudness(between(dub, ...MUSIC))).toBeLessThan(speech / 1000);
  for (const { start, text } of cues) {
    const begin = onset(dub, Math.max(0, start - 0.1), speech / 10);
    expect(Math.abs((begin ?? Number.POSITIVE_INFINITY) - start), text).toBeLessThanOrEqual(0.1);
  }
});
