/** The recognizer and a real server: whisper.cpp's own, with a model that writes nonsense. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RecognitionTask } from '../../../../src/engines/backend.ts';
import { createOpenAiRecognizer } from '../../../../src/engines/backends/openai/recognizer.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { createWork, ffmpeg, speechClip } from '../../workspace.ts';
import { recordedParts } from '../loopback-server.ts';
import { startWhisperServer, WHISPER_SERVER, type WhisperServer } from '../whisper-server.ts';

describe.skipIf(WHISPER_SERVER === null)("whisper.cpp's server (needs: sh .ci/whisper-server)", () => {
  let server: WhisperServer;
  beforeAll(async () => {
    server = await startWhisperServer();
  });
  afterAll(() => server.stop());

  /** The clip of 3 s, repeated. */
  function speech(times: number): RecognitionTask & { readonly seconds: number } {
    const voice = join(makeFolder(), 'voice.wav');
    const seconds = times * 3;
    const repeat = [
      '-stream_loop',
      String(times - 1),
      '-i',
      speechClip('0880'),
      '-af',
      'apad',
      '-t',
      String(seconds),
    ];
    ffmpeg(...repeat, '-ar', '16000', '-ac', '1', '-c:a', 'pcm_s16le', voice);
    const segments = Array.from({ length: times }, (_, at) => ({ start: at * 3 + 0.2, end: at * 3 + 2.8 }));
    return { voice, segments, language: 'en', seconds };
  }

  function open(model = 'tiny') {
    const parts = recordedParts();
    const recognizer = createOpenAiRecognizer({ type: 'openai', url: server.url, model }, parts);
    return { recognizer, ...parts };
  }

  /** Rows of its log about recognized sounds. */
  const processed = (): readonly string[] => server.printed.filter((row) => /processing '/.test(row));

  test.each([
    ['a short sound unchanged', 1, 'speech.wav', 48_000, '3.0 sec'],
    ['a longer one as FLAC', 6, 'speech.flac', 288_000, '18.0 sec'],
  ])('receives %s, with the language of the speech', async (_, times, name, samples, seconds) => {
    const { recognizer } = open();
    const before = processed().length;
    await recognizer.recognize({ ...speech(times), language: 'es-MX' }, createWork(makeFolder()));
    await recognizer.close();
    const rows = processed().slice(before);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toContain(`processing '${name}' (${samples} samples, ${seconds})`);
    expect(rows[0]).toContain('lang = es');
  });

  test('returns word times up to 15 s for 3 s of sound; they are moved into the speech', async () => {
    const { recognizer, warnings } = open();
    const task = speech(1);
    const { words, language, punctuated } = await recognizer.recognize(task, createWork(makeFolder()));
    await recognizer.close();
    expect({ language, punctuated, warnings }).toEqual({ language: 'en', punctuated: true, warnings: [] });
    expect(words.length).toBeGreaterThan(0);
    for (const { text, start, end, segment } of words) {
      expect(text).toMatch(/^\S+$/);
      expect(segment).toBe(0);
      expect(start).toBeGreaterThanOrEqual(0);
      expect(end).toBeGreaterThan(start);
      expect(end).toBeLessThanOrEqual(task.seconds);
    }
  });

  test('gets no more requests once the job is cancelled, and serves the next job', async () => {
    const { recognizer } = open();
    const stop = new AbortController();
    const reason = new Error('cancelled');
    const work = createWork(makeFolder(), stop.signal);
    const before = processed().length;
    const running = recognizer.recognize(speech(10), work);
    const settled = expect(running).rejects.toBe(reason);
    while (processed().length === before) await new Promise((resolve) => setImmediate(resolve));
    stop.abort(reason);
    await settled;
    const { words } = await recognizer.recognize(speech(1), createWork(makeFolder()));
    expect(words.length).toBeGreaterThan(0);
    await recognizer.close();
  });
});
