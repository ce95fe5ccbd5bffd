/** `dubbing`: the returned track, measured. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { between, decodeSound, loudness, onset, type Sound } from '../../support/audio.ts';
import { fundamental } from '../../support/pitch.ts';
import { openStudio, PATIENCE, type Studio } from './studio.ts';

/** Short texts with room to be spoken in, and pauses longer than any overrun. */
const LINES = [
  { index: 1, start_ms: 700, end_ms: 2_700, text: 'La casa de mi hermano es muy grande.' },
  { index: 2, start_ms: 4_500, end_ms: 6_900, text: 'No había nadie en el jardín por la mañana.' },
];
const SRT =
  '1\n00:00:00,700 --> 00:00:02,700\nLa casa de mi hermano es muy grande.\n\n' +
  '2\n00:00:04,500 --> 00:00:06,900\nNo había nadie en el jardín por la mañana.\n';
const MODES = ['auto', 'female', 'male'] as const;

let studio: Studio;
const files = new Map<string, string>();
const durations = new Map<string, number>();

async function dub(name: string, subtitle: unknown, options: Record<string, string>): Promise<void> {
  const { result } = await studio.run('dubbings', { subtitle, target_language: 'es', ...options });
  expect(Object.keys(result).sort()).toEqual(['audio', 'duration_seconds']);
  durations.set(name, result.duration_seconds);
  files.set(name, await studio.fetch(result.audio, `${name}.wav`));
}

beforeAll(async () => {
  studio = await openStudio();
  const srt = join(studio.folder, 'es.srt');
  writeFileSync(srt, SRT);
  const upload_id = await studio.upload(srt, 'subtitle_file');
  await dub('file', { type: 'upload', upload_id }, {});
  for (const mode of MODES) await dub(mode, { type: 'lines', lines: LINES }, { voice_mode: mode });
}, PATIENCE.timeout);
afterAll(() => studio.close());

const fileOf = (name: string) => files.get(name) ?? '';
const soundOf = (name: string): Sound => decodeSound(fileOf(name));

describe.each(['file', ...MODES])('the dub (%s)', (name) => {
  it('is one WAV track that lasts until the last cue ends', () => {
    const args = ['-v', 'error', '-show_entries', 'format=format_name,duration:stream=codec_name'];
    const text = execFileSync('ffprobe', [...args, '-of', 'csv=p=0', fileOf(name)], { encoding: 'utf8' });
    const [codec, format] = text.trim().split('\n');
    expect([codec, format?.split(',')[0]]).toEqual(['pcm_s16le', 'wav']);
    const seconds = Number(format?.split(',')[1]);
    expect(seconds).toBeCloseTo(durations.get(name) ?? 0, 3);
    expect(seconds).toBeGreaterThanOrEqual(6.9);
  });

  it('speaks in each cue and nowhere else', () => {
    const sound = soundOf(name);
    const speech = loudness(sound.samples);
    for (const { start_ms, end_ms } of LINES) {
      const begin = onset(sound, start_ms / 1000 - 0.2, speech / 10);
      expect(Math.abs((begin ?? Number.POSITIVE_INFINITY) - start_ms / 1000)).toBeLessThan(0.1);
      expect(loudness(between(sound, start_ms / 1000, end_ms / 1000))).toBeGreaterThan(speech / 2);
    }
    // Before, between and after the cues: digital silence, but for the ringing of a resampler.
    for (const [from, to] of [
      [0, 0.69],
      [2.8, 4.49],
      [7, 8],
    ]) {
      expect(loudness(between(sound, from ?? 0, to ?? 0))).toBeLessThan(speech / 1000);
    }
  });
});

it('is the same for a file and for lines, and for `auto` and no voice mode', () => {
  expect(soundOf('file')).toEqual(soundOf('auto'));
});

it('has a woman’s voice higher than a man’s by half and more', PATIENCE, () => {
  const [female, male] = [fundamental(soundOf('female')), fundamental(soundOf('male'))];
  expect(female).toBeGreaterThan(1.4 * male);
});
