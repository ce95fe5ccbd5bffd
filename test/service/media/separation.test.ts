/** `audio_separation`, from an upload to two files that are measured. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { decodeSound, loudness } from '../../support/audio.ts';
import { askProgram } from '../../support/remembered-programs.ts';
import { cutSample, openStudio, PATIENCE, type Studio } from './studio.ts';

let studio: Studio;
let video: string;
/** Paths of the two tracks. */
let tracks: { vocal: string; background: string };

beforeAll(async () => {
  studio = await openStudio();
  video = cutSample(studio.folder, 8.6);
  const uploadId = await studio.upload(video, 'source_video');
  const { result } = await studio.run('audio-separations', {
    source: { type: 'upload', upload_id: uploadId },
  });
  expect(Object.keys(result).sort()).toEqual(['background_audio', 'vocal_audio']);
  tracks = {
    vocal: await studio.fetch(result.vocal_audio, 'vocal.wav'),
    background: await studio.fetch(result.background_audio, 'background.wav'),
  };
}, PATIENCE.timeout);
afterAll(() => studio.close());

const probe = (file: string) =>
  askProgram('ffprobe', [
    ...['-v', 'error', '-show_entries', 'format=format_name:stream=codec_name,sample_rate,channels'],
    ...['-of', 'csv=p=0', file],
  ])
    .toString()
    .trim();

/** All samples, interleaved, 48 kHz stereo. */
function samplesOf(file: string): Int16Array {
  const args = ['-v', 'error', '-i', file, '-map', '0:a:0', '-ar', '48000', '-ac', '2', '-f', 's16le', '-'];
  const bytes = askProgram('ffmpeg', args);
  return new Int16Array(new Uint8Array(bytes).buffer);
}

it('returns two WAV files in the sample rate and with the channels of the sound', () => {
  for (const track of Object.values(tracks)) expect(probe(track)).toBe('pcm_s16le,48000,2\nwav');
});

it('returns tracks as long as the sound, which add up to it sample for sample', () => {
  const [input, vocal, background] = [video, tracks.vocal, tracks.background].map(samplesOf);
  if (input === undefined || vocal === undefined || background === undefined) throw new Error('unreachable');
  expect([vocal.length, background.length]).toEqual([input.length, input.length]);
  let worst = 0;
  for (const [at, sample] of input.entries()) {
    const sum = (vocal[at] ?? 0) + (background[at] ?? 0);
    worst = Math.max(worst, Math.abs(sample - Math.max(-32_768, Math.min(32_767, sum))));
  }
  // Two tracks are rounded to 16 bit each.
  expect(worst).toBeLessThanOrEqual(2);
});

it('puts the voice into one and the music into the other', () => {
  const [vocal, background] = [tracks.vocal, tracks.background].map((file) => decodeSound(file, 48_000));
  const level = (sound: typeof vocal, from: number, to: number) =>
    loudness((sound?.samples ?? new Float32Array()).subarray(from * 48_000, to * 48_000));
  // The voice of the first clip is heard from 1.5 s to 7.5 s; before 0.9 s there is music alone.
  expect(level(vocal, 2, 7)).toBeGreaterThan(4 * level(background, 2, 7));
  expect(level(background, 0.1, 0.8)).toBeGreaterThan(4 * level(vocal, 0.1, 0.8));
});
