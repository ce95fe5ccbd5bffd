/** Limits at their last permitted value and one beyond, over HTTP and with real bytes. */
import { describe, expect, it } from 'vitest';
import { formatSrt } from '../../src/protocol/srt.ts';
import { type Reply, send, signHeaders } from './harness/caller.ts';
import { finishUpload, type Scene, startScene } from './harness/scene.ts';

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
