/** The five kinds from end to end, with the real engines, on the sample. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createEngines } from '../../../src/engines/index.ts';
import { countWordErrors } from '../../../src/engines/trial/trial.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { createWork, ffmpeg, ffprobe, SAMPLE, temporaryFolder } from '../workspace.ts';

const FIXTURE = new URL('../../fixtures/sample.json', import.meta.url);
const CLIPS: { start: number; words: string }[] = JSON.parse(readFileSync(FIXTURE, 'utf8')).clips;
const engines = createEngines({ searchPath: rememberingPath() });
const work = () => createWork(temporaryFolder());
/** Recognition takes a third of the sample's length on two idle cores, and several times that on busy ones. */
const PATIENCE = { timeout: 300_000 };

/** The beginning of the sample, for what does not depend on its length. 8.6 s hold the first clip, 12.6 s the first two. */
function beginning(seconds: number): string {
  const file = join(temporaryFolder(), 'beginning.mp4');
  ffmpeg('-i', SAMPLE, '-t', String(seconds), '-c', 'copy', file);
  return file;
}

describe('subtitle recognition', () => {
  test('transcribes speech with few errors, at its time', PATIENCE, async () => {
    const recorded = work();
    const clips = CLIPS.slice(0, 2);
    const task = { video: beginning(12.6), sourceLanguage: 'auto' };
    const { subtitle } = await engines.run.subtitle_recognition(task, recorded);
    expect(subtitle.language).toBe('en');
    const heard = subtitle.lines.map((line) => line.text).join(' ');
    expect(countWordErrors(clips.map((clip) => clip.words).join(' '), heard)).toBeLessThan(0.45);
    for (const { start } of clips) {
      // A clip begins with some silence, then a cue.
      const near = subtitle.lines.filter((line) => Math.abs(line.start_ms / 1000 - start) < 0.6);
      expect(near.length).toBeGreaterThan(0);
    }
    expect(recorded.reports.at(-1)?.fraction).toBe(1);
  });

  test('refuses a language without a model', async () => {
    const run = engines.run.subtitle_recognition({ video: beginning(1), sourceLanguage: 'fr' }, work());
    await expect(run).rejects.toMatchObject({ code: 'LANGUAGE_NOT_SUPPORTED' });
  });
});

describe('auto localization', () => {
  const task = {
    sourceLanguage: 'en',
    targetLanguage: 'es',
    mode: 'standard',
    voiceMode: 'female',
    subtitleOutput: 'soft',
    originalAudio: 'background',
    resolution: 'source',
  } as const;

  test(
    'produces a dubbed video of the same length, in the documented order of stages',
    PATIENCE,
    async () => {
      const recorded = work();
      const original = beginning(8.6);
      const { video, durationSeconds } = await engines.run.auto_localization(
        { ...task, video: original },
        recorded,
      );
      expect(video.contentType).toBe('video/mp4');
      const length = Number(ffprobe(original, 'format=duration'));
      expect(Math.abs(durationSeconds - length)).toBeLessThan(0.04);
      expect(ffprobe(video.path, 'stream=codec_name:stream_tags=language', 'a:0')).toBe('aac\nspa');
      expect(ffprobe(video.path, 'stream=codec_name', 's:0')).toBe('mov_text');
      const stages = recorded.reports.map(({ stage }) => stage);
      expect([...new Set(stages)]).toEqual([
        'separating',
        'recognizing',
        'translating',
        'dubbing',
        'exporting',
      ]);
      const fractions = recorded.reports.map(({ fraction }) => fraction);
      expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
    },
  );

  test('can be cancelled while it recognizes, and stops there', PATIENCE, async () => {
    const stop = new AbortController();
    const reason = new Error('cancelled by the caller');
    let reached = '';
    const report = (_: number, stage = '') => {
      reached = stage;
      if (stage === 'recognizing') stop.abort(reason);
    };
    const work = { ...createWork(temporaryFolder(), stop.signal), report };
    // With a recognizer that works, not with one that remembers.
    const run = createEngines().run.auto_localization({ ...task, video: beginning(8.6) }, work);
    await expect(run).rejects.toBe(reason);
    expect(reached).toBe('recognizing');
  });
});

describe('the other kinds', () => {
  const lines = [{ index: 1, start_ms: 500, end_ms: 2_000, text: 'The house is red.' }];

  test('audio separation produces two WAV files', async () => {
    const { vocalAudio, backgroundAudio } = await engines.run.audio_separation(
      { video: beginning(8.6) },
      work(),
    );
    for (const { path, contentType } of [vocalAudio, backgroundAudio]) {
      expect(contentType).toBe('audio/wav');
      expect(ffprobe(path, 'stream=codec_name,sample_rate,channels')).toBe('pcm_s16le\n48000\n2');
    }
  });

  test('subtitle translation produces cues', async () => {
    const languages = { sourceLanguage: 'en', targetLanguage: 'es' };
    const { subtitle } = await engines.run.subtitle_translation({ lines, ...languages }, work());
    expect(subtitle.lines[0]?.text).toBe('La casa es roja.');
  });

  test('dubbing produces a WAV file', async () => {
    const task = { lines, targetLanguage: 'en', voiceMode: 'auto' } as const;
    const { audio, durationSeconds } = await engines.run.dubbing(task, work());
    expect(audio.contentType).toBe('audio/wav');
    expect(Number(ffprobe(audio.path, 'format=duration'))).toBeCloseTo(durationSeconds, 3);
  });
});
