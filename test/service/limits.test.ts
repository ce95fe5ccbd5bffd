/** Limits at their last permitted value and one beyond, over HTTP and with real bytes. */
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { formatSrt } from '../../src/protocol/srt.ts';
import { type Reply, send, signHeaders } from './harness/caller.ts';
import { finishUpload, type Scene, startScene } from './harness/scene.ts';
import { ffmpeg, openStudio, PATIENCE } from './media/studio.ts';

describe('the duration of a video', () => {
  /** Small pictures, one a second, and sound of 8 kHz without packets to be filled up: lengths are exact to 1/8 ms. */
  async function validate(seconds: string): Promise<Reply['json']> {
    const studio = await openStudio();
    onTestFinished(() => studio.close());
    const path = join(studio.folder, 'long.mov');
    const picture = ['-f', 'lavfi', '-i', 'color=c=gray:s=64x48:r=1'];
    const sound = ['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=8000'];
    const coding = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'pcm_mulaw'];
    ffmpeg(...picture, ...sound, '-t', seconds, ...coding, path);
    return studio.validate(path, 'source_video');
  }

  it('may be 900.000 s', PATIENCE, async () => {
    expect(await validate('900')).toMatchObject({ status: 'ready', media: { duration_seconds: 900 } });
  });

  it('may not be 900.001 s, which the refusal says to the millisecond', PATIENCE, async () => {
    const { status, media, error } = await validate('900.001');
    expect({ status, media, code: error.code }).toEqual({
      status: 'failed',
      media: null,
      code: 'MEDIA_VALIDATION_FAILED',
    });
    expect(error.message).toContain('900.001 s');
  });
});

describe('the size of a subtitle file', () => {
  /** SRT of exactly that many bytes: lines of text, then empty rows. */
  function srtOf(bytes: number): Buffer {
    const text = 'x'.repeat(1000);
    const lines = Array.from({ length: 9_000 }, (_, at) => ({
      index: at + 1,
      start_ms: at * 1000,
      end_ms: at * 1000 + 900,
      text,
    }));
    const srt = Buffer.from(formatSrt(lines));
    return Buffer.concat([srt, Buffer.alloc(bytes - srt.length, '\n')]);
  }

  it('may be 10,485,759 bytes, which are sent and read', async () => {
    const { caller } = await startScene();
    const upload = await finishUpload(caller, srtOf(10_485_759), 'subtitle_file');
    expect(upload).toMatchObject({ status: 'ready', size_bytes: 10_485_759, subtitle: { lines: 9_000 } });
  });
});

describe('the size of a JSON body', () => {
  const LIMIT = 12 * 1024 ** 2;

  /** A reservation in exactly that many bytes: JSON may hold any number of blanks. */
  function reserveIn(scene: Scene, bytes: number): Promise<Reply> {
    const fields = { purpose: 'subtitle_file', file_name: 'a', content_type: 'a/b', size_bytes: 1 };
    const body = JSON.stringify(fields).padEnd(bytes, ' ');
    const path = '/v1/uploads';
    const signed = signHeaders(scene.credentials, { method: 'POST', path, body, nowMs: scene.clock.now() });
    return send(new URL(scene.service.url).origin + path, {
      method: 'POST',
      headers: { ...signed, 'Content-Type': 'application/json', 'Idempotency-Key': `size-${bytes}` },
      body,
    });
  }

  it('may be 12 MiB', async () => {
    expect((await reserveIn(await startScene(), LIMIT)).status).toBe(201);
  });
});
