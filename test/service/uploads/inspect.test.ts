/** With the engines of this machine: real videos, real probes. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createEngines } from '../../../src/engines/index.ts';
import { send } from '../harness/caller.ts';
import { finishUpload, makeStateDir, sendUpload, startScene, until } from '../harness/scene.ts';

/** Decoding half a minute of video takes a second, on a busy machine some. */
const PATIENCE_MS = 170_000;

async function untilValidated(scene: Awaited<ReturnType<typeof startScene>>, bytes: Buffer) {
  const { id, etag } = await sendUpload(scene.caller, bytes);
  await scene.caller.post(`/v1/uploads/${id}/completions`, { etag });
  const reply = await until(
    () => scene.caller.get(`/v1/uploads/${id}`),
    ({ json }) => json.status !== 'validating',
    PATIENCE_MS,
  );
  return reply.json;
}

test(
  'a real video is measured, and a file that only claims to be one is not opened',
  async () => {
    const scene = await startScene({ engines: createEngines() });
    const sample = await readFile(join(import.meta.dirname, '../../fixtures/sample.mp4'));
    const upload = await untilValidated(scene, sample);
    expect(upload).toMatchObject({
      status: 'ready',
      media: { video: { codec: 'h264', width: 640, height: 360 }, audio: { codec: 'aac', channels: 2 } },
    });
    expect(upload.media.duration_seconds).toBeCloseTo(30.73, 1);

    const secret = join(await makeStateDir(), 'secret.ts');
    await writeFile(secret, sample);
    const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile://${secret}\n#EXT-X-ENDLIST\n`;
    const trap = await untilValidated(scene, Buffer.from(playlist));
    expect(trap).toMatchObject({ status: 'failed', media: null, error: { code: 'MEDIA_VALIDATION_FAILED' } });
    expect(trap.error.message).not.toContain(scene.stateDir);
  },
  2 * PATIENCE_MS,
);

test(
  'subtitles become a track that a voice of this machine speaks',
  async () => {
    const { caller } = await startScene({ engines: createEngines() });
    const srt = '1\n00:00:00,500 --> 00:00:02,000\nbuenos días\n\n2\n00:00:02,500 --> 00:00:04,000\nadiós\n';
    const upload = await finishUpload(caller, Buffer.from(srt), 'subtitle_file');
    const created = await caller.post('/v1/dubbings', {
      subtitle: { type: 'upload', upload_id: upload.id },
      target_language: 'es',
    });
    expect(created.status).toBe(202);
    const { json } = await until(
      () => caller.get(created.json.detail_url),
      (reply) => !['queued', 'processing'].includes(reply.json.status),
      PATIENCE_MS,
    );
    expect(json).toMatchObject({ status: 'succeeded', error: null, billing: { charged_credits: 1 } });
    expect(json.result.duration_seconds).toBeGreaterThan(3);
    const track = await send(json.result.audio.url);
    expect(track.bytes.subarray(0, 4).toString()).toBe('RIFF');
  },
  2 * PATIENCE_MS,
);
