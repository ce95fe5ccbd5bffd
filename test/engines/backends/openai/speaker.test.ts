import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Speaker, SpeechRequest } from '../../../../src/engines/backend.ts';
import { createOpenAiSpeaker } from '../../../../src/engines/backends/openai/speaker.ts';
import { wavHeader } from '../../../../src/media/audio/wav.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { ffmpeg } from '../../workspace.ts';
import { type LoopbackServer, type Received, recordedParts, startServer } from '../loopback-server.ts';
import { findDeviations } from '../published-api.ts';

type Entry = Parameters<typeof createOpenAiSpeaker>[0];
const VOICES = { es: { female: 'ef_dora', male: 'em_alex' }, 'pt-BR': 'pf_dora' };

/** A tone of 16-bit samples at 24 kHz, with silence around it. */
function tone(seconds: number, amplitude = 8_000): Buffer {
  const samples = new Int16Array(Math.round((seconds + 0.2) * 24_000));
  for (let at = 2_400; at < samples.length - 2_400; at += 1) {
    samples[at] = Math.round(amplitude * Math.sin((2 * Math.PI * 300 * at) / 24_000));
  }
  const data = Buffer.from(samples.buffer);
  const header = wavHeader({ sampleRate: 24_000, channels: 1 }, data.length);
  // As Kokoro-FastAPI streams it: it does not know the length when it begins.
  header.writeUInt32LE(0xffff_ffff, 4);
  header.writeUInt32LE(0xffff_ffff, 40);
  return Buffer.concat([header, data]);
}

const json = (request: Received | undefined) => JSON.parse(String(request?.body));

/** A server for speech; each of its requests must be as published. */
async function startVoice(
  behave: (
    request: { readonly speed?: number; readonly voice: string },
    number: number,
  ) => ReturnType<Parameters<typeof startServer>[0]> = () => ({
    headers: { 'Content-Type': 'audio/wav' },
    body: tone(1),
  }),
): Promise<LoopbackServer> {
  const server = await startServer((request, number) => behave(json(request), number));
  onTestFinished(() => {
    for (const request of server.received) {
      expect(findDeviations('openai', '/audio/speech', 'request', json(request))).toEqual([]);
    }
  });
  return server;
}

function speaker(url: string, entry: Partial<Entry> = {}, parts = recordedParts()): Speaker {
  const made = createOpenAiSpeaker({ type: 'openai', url, model: 'kokoro', voices: VOICES, ...entry }, parts);
  onTestFinished(() => made.close());
  return made;
}

function run(signal = new AbortController().signal) {
  return { signal, folder: makeFolder() };
}

const request = (changes: Partial<SpeechRequest> = {}): SpeechRequest => ({
  text: 'Buenos días.',
  language: 'es',
  voiceMode: 'auto',
  speed: 1,
  ...changes,
});

describe('speech with the API of OpenAI', () => {
  it('sends text, voice and format as OpenAI documents it, and removes the silence around the speech', async () => {
    const server = await startVoice();
    const clip = await speaker(server.url).speak(request({ voiceMode: 'male' }), run());
    expect(clip.sampleRate).toBe(24_000);
    expect(clip.samples.length / 24_000).toBeCloseTo(1, 1);
    const [received] = server.received;
    expect(received?.path).toBe('/v1/audio/speech');
    expect(json(received)).toEqual({
      model: 'kokoro',
      input: 'Buenos días.',
      voice: 'em_alex',
      response_format: 'wav',
    });
    expect(findDeviations('openai', '/audio/speech', 'request', { model: 'kokoro', voice: 'x' })).not.toEqual(
      [],
    );
  });

  it('speaks the languages of its voices', async () => {
    const made = speaker('http://127.0.0.1:1/v1');
    await expect(made.voices(run())).resolves.toEqual([
      { language: 'es', voices: ['ef_dora', 'em_alex'] },
      { language: 'pt-BR', voices: ['pf_dora'] },
    ]);
    await expect(made.supports('es-419', run())).resolves.toBe(true);
    await expect(made.supports('fr', run())).resolves.toBe(false);
    await expect(made.speak(request({ language: 'fr' }), run())).rejects.toMatchObject({
      code: 'LANGUAGE_NOT_SUPPORTED',
    });
  });

  it('uses the voices of OpenAI for languages without voices', async () => {
    const server = await startVoice();
    const made = createOpenAiSpeaker(
      { type: 'openai', url: server.url, model: 'tts-1', languages: ['es', 'fr'] },
      recordedParts(),
    );
    onTestFinished(() => made.close());
    for (const voiceMode of ['auto', 'female', 'male'] as const)
      await made.speak(request({ voiceMode }), run());
    expect(server.received.map((received) => json(received).voice)).toEqual(['alloy', 'nova', 'onyx']);
  });

  it('cannot be used without its languages, or without a voice for one', () => {
    const entry = { type: 'openai', url: 'http://127.0.0.1:1/v1', model: 'kokoro' } as const;
    expect(() => createOpenAiSpeaker(entry, recordedParts())).toThrow(
      expect.objectContaining({ permanent: true, message: expect.stringContaining('add "voices"') }),
    );
    expect(() =>
      createOpenAiSpeaker({ ...entry, languages: ['es', 'fr'], voices: { es: 'x' } }, recordedParts()),
    ).toThrow(
      expect.objectContaining({ permanent: true, message: expect.stringContaining('no voice for it') }),
    );
  });

  it('returns nothing for a text without words, and sends nothing', async () => {
    const server = await startVoice();
    const clip = await speaker(server.url).speak(request({ text: '♪ …' }), run());
    expect(clip.samples.length).toBe(0);
    expect(server.received).toEqual([]);
  });
});

describe('the speed', () => {
  it('is sent unless it is the natural one', async () => {
    const server = await startVoice();
    await speaker(server.url).speak(request({ speed: 1.23456 }), run());
    expect(json(server.received[0]).speed).toBe(1.235);
  });

  it('is no longer sent, or offered, after the server rejected it, with one warning', async () => {
    const server = await startVoice(({ speed }) =>
      speed === undefined
        ? { body: tone(1) }
        : { status: 400, body: { error: { message: 'Unknown parameter: speed' } } },
    );
    const parts = recordedParts();
    const made = speaker(server.url, {}, parts);
    expect(made.mostSpeed).toBe(1.6);
    await made.speak(request({ speed: 1.3 }), run());
    await made.speak(request({ speed: 1.4 }), run());
    expect(server.received.length).toBe(3);
    expect(made.mostSpeed).toBe(1);
    expect(parts.warnings).toEqual([expect.stringContaining('accepts no speed')]);
  });
});

describe('the sound of a server', () => {
  it('may be another than was requested, whatever its type says', async () => {
    const file = join(makeFolder(), 'tone.mp3');
    ffmpeg('-f', 'lavfi', '-i', 'sine=300:d=1', '-ac', '2', '-c:a', 'libmp3lame', file);
    const server = await startVoice(() => ({
      headers: { 'Content-Type': 'audio/wav' },
      body: readFileSync(file),
    }));
    const place = run();
    const clip = await speaker(server.url).speak(request(), place);
    expect(clip.samples.length / clip.sampleRate).toBeCloseTo(1, 1);
    expect(readdirSync(place.folder)).toEqual([]);
  });

  it('is requested in its own format if the server rejects WAV', async () => {
    const server = await startServer((received) =>
      json(received).response_format === undefined
        ? { body: tone(1) }
        : { status: 422, body: { detail: 'response_format must be mp3' } },
    );
    const made = speaker(server.url);
    await made.speak(request(), run());
    await made.speak(request(), run());
    expect(server.received.length).toBe(3);
  });

  it('is requested once more if it cannot be used, then the failure is permanent', async () => {
    const server = await startVoice(() => ({ body: tone(1, 0) }));
    await expect(speaker(server.url).speak(request(), run())).rejects.toMatchObject({
      code: 'ENGINE_ERROR',
      permanent: true,
      message: expect.stringContaining('returned silence'),
    });
    expect(server.received.length).toBe(2);
  });

  it('may be usable the second time', async () => {
    const server = await startVoice((_, number) => ({ body: tone(1, number === 1 ? 0 : 8_000) }));
    const clip = await speaker(server.url).speak(request(), run());
    expect(clip.samples.length).toBeGreaterThan(20_000);
  });

  it('cannot be JSON or a web page', async () => {
    const server = await startVoice(() => ({ headers: { 'Content-Type': 'text/html' }, body: 'Sign in' }));
    await expect(speaker(server.url).speak(request(), run())).rejects.toMatchObject({
      permanent: true,
      message: expect.stringContaining('answered with text/html instead of sound'),
    });
  });
});
