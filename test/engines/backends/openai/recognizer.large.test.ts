import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RecognitionTask } from '../../../../src/engines/backend.ts';
import { createWav } from '../../../../src/media/audio/wav.ts';
import { createWork, ffmpeg, speechClip, temporaryFolder } from '../../workspace.ts';
import { minute, recognizer, secondsOf, startTranscriber, verbose } from './transcriber.ts';

describe('sound that is too large for a server', () => {
  it('is cut at silences, and the times remain right', async () => {
    let most = Number.POSITIVE_INFINITY;
    const lengths: number[] = [];
    const server = await startTranscriber(({ file }) => {
      if (!Number.isFinite(most)) most = file.length * 0.8;
      if (file.length > most) return { status: 413, body: 'Request Entity Too Large' };
      const seconds = secondsOf(file);
      lengths.push(Math.round(seconds));
      return verbose([['end', seconds - 10.5, seconds - 10.2]]);
    });
    const made = recognizer(server.url);
    const { task, folder } = await minute();
    const { words } = await made.recognize(task, createWork(folder));
    // Cut in the middle of the pause from 28 to 40 s.
    expect(lengths).toEqual([34, 26]);
    expect(words).toEqual([
      { text: 'end', start: expect.closeTo(23.5, 2), end: expect.closeTo(23.8, 2), segment: 1 },
      { text: 'end', start: expect.closeTo(49.5, 2), end: expect.closeTo(49.8, 2), segment: 2 },
    ]);
    // The limit is remembered.
    await made.recognize(task, createWork(folder));
    expect(server.received.length).toBe(5);
  });

  it('is also cut if the server closes the connection while the sound is sent', async () => {
    const received: number[] = [];
    const server = createServer((request, response) => {
      const bytes = Number(request.headers['content-length']);
      received.push(bytes);
      if (bytes > 3_000_000) {
        response.writeHead(413, { Connection: 'close' }).end('too large');
        return;
      }
      request.resume().on('end', () => {
        response.setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify(verbose([['Hm', 1, 1.5]]).body));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo; // it listens on a port, not on a path
    const { task, folder } = await noise(150);
    await recognizer(`http://127.0.0.1:${port}`).recognize(task, createWork(folder));
    expect(received[0]).toBeGreaterThan(3_000_000);
    expect(received.slice(1).every((bytes) => bytes < 3_000_000)).toBe(true);
    expect(received.length).toBe(3);
  });

  it('of 15 minutes stays below 25 MB, even if it is noise', async () => {
    const server = await startTranscriber(({ file }) =>
      file.length > 25_000_000 ? { status: 413 } : verbose([['Hm', 1, 1.5]]),
    );
    const { task, folder } = await noise(900);
    const { words } = await recognizer(server.url).recognize(task, createWork(folder));
    expect(server.received.length).toBe(2);
    expect(words.map(({ start }) => Math.round(start))).toEqual([1, 451]);
  });

  it('of 15 minutes of speech is sent in one piece', async () => {
    const server = await startTranscriber(() => verbose([['Hm', 1, 1.5]]));
    const folder = temporaryFolder();
    const voice = join(folder, 'voice.wav');
    ffmpeg('-stream_loop', '-1', '-i', speechClip('0870'), '-t', '900', '-ac', '1', '-ar', '16000', voice);
    const task = { voice, segments: [{ start: 0, end: 900 }], language: 'en' };
    await recognizer(server.url).recognize(task, createWork(folder));
    expect(server.received.length).toBe(1);
    expect(server.received[0]?.body.length).toBeLessThan(25_000_000);
  });

  it('fails if even a short part is refused', async () => {
    const server = await startTranscriber(() => ({ status: 413 }));
    const { task, folder } = await minute();
    await expect(recognizer(server.url).recognize(task, createWork(folder))).rejects.toMatchObject({
      permanent: true,
      message: expect.stringMatching(/refuses \d+ s of speech as too large/),
    });
  });
});

/** Noise, which no codec makes smaller, with a pause in its middle. */
async function noise(seconds: number): Promise<{ task: RecognitionTask; folder: string }> {
  const folder = temporaryFolder();
  const voice = join(folder, 'noise.wav');
  const file = await createWav(voice, { sampleRate: 16_000, channels: 1 });
  for (let at = 0; at < seconds; at += 10) {
    const bytes = randomBytes(320_000);
    await file.write(new Int16Array(bytes.buffer, bytes.byteOffset, 160_000));
  }
  await file.close();
  const middle = seconds / 2;
  const segments = [
    { start: 0, end: middle - 1 },
    { start: middle + 1, end: seconds },
  ];
  return { task: { voice, segments, language: 'en' }, folder };
}
