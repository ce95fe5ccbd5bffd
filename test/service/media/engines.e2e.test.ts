/** Jobs whose steps are done by engines of `engines.json`: real servers and programs, from the upload to the charge. */
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EnginesConfig } from '../../../src/engines/config.ts';
import { startServer } from '../../engines/backends/loopback-server.ts';
import { nodeScript } from '../../engines/backends/user-program.ts';
import { pictureSums, probeStreams, readCues } from '../../support/media.ts';
import { openStudio, PATIENCE, type Studio, secondClip } from './studio.ts';

/** Opens a studio that ends with the test. */
async function studioWith(config: EnginesConfig, env = process.env): Promise<Studio> {
  const studio = await openStudio({ config, env });
  onTestFinished(() => studio.close());
  return studio;
}

/** A real program that separates after a fashion: what is low, and what is high. */
const FFMPEG_SEPARATOR: NonNullable<EnginesConfig['separate']>[number] = {
  type: 'command',
  run: [
    ...['ffmpeg', '-nostdin', '-v', 'error', '-i', '{input}'],
    ...['-af', 'highpass=f=200', '{out}/{stem}-voice.wav'],
    ...['-af', 'lowpass=f=200', '{out}/{stem}-rest.wav'],
  ],
  vocals: '{stem}-voice.wav',
  background: '{stem}-rest.wav',
};

const TRANSLATED = 'La casa es roja';

/** A started minute costs a credit, whichever engine works. */
const ONE_MINUTE = { charged: 1, billing: { status: 'settled', quantity: 1, charged_credits: 1 } };

const task = { source_language: 'en', target_language: 'es', subtitle_output: 'soft' } as const;

async function localize(studio: Studio, video: string) {
  const source = { type: 'upload', upload_id: await studio.upload(video, 'source_video') };
  const before = (await studio.get('credits')).balance_credits;
  const job = await studio.run('auto-localizations', { ...task, source });
  const charged = before - (await studio.get('credits')).balance_credits;
  return { job, charged, file: await studio.fetch(job.result.video, 'localized.mp4') };
}

/** The picture is that of the source, and the sound is another one of the same length. */
function expectDubbed(file: string, source: string): void {
  expect(pictureSums(file, 'coded')).toEqual(pictureSums(source, 'coded'));
  const { streams, duration } = probeStreams(file);
  expect(streams.map(({ codec_name }) => codec_name)).toEqual(['h264', 'aac', 'mov_text']);
  expect(streams[1]?.tags?.language).toBe('spa');
  expect(Math.abs(duration - probeStreams(source).duration)).toBeLessThan(0.08);
}

describe('a video is localized', PATIENCE, () => {
  it('by a program for each step', async () => {
    const recognizer = nodeScript(
      `import { writeFileSync } from 'node:fs';
      writeFileSync(process.argv[2], '1\\n00:00:01,000 --> 00:00:02,000\\nThe house is red\\n');`,
      'recognizer',
    );
    const translator = nodeScript(
      `import { readFileSync } from 'node:fs';
      for (const line of readFileSync(0, 'utf8').trim().split('\\n')) {
        const { id, text } = JSON.parse(line);
        console.log(JSON.stringify({ id, text: text.startsWith('The house is red') ? '${TRANSLATED}' : '?' }));
      }`,
      'translator',
    );
    const studio = await studioWith({
      recognize: [{ type: 'command', run: [recognizer, '{output}', '{input}'], languages: ['en'] }],
      translate: [{ type: 'command', run: [translator], languages: ['en', 'es'] }],
      speak: [
        {
          type: 'command',
          run: ['espeak-ng', '--stdin', '-w', '{output}', '-v', '{voice}'],
          voices: { es: 'es' },
        },
      ],
      separate: [FFMPEG_SEPARATOR],
    });
    const clip = secondClip(studio.folder, 'clip.mp4');
    const { file, charged, job } = await localize(studio, clip);
    expectDubbed(file, clip);
    expect(await studio.enginesOf(job)).toEqual([
      'separate: command ffmpeg',
      'recognize: command recognizer',
      'translate: command translator',
      'speak: command espeak-ng',
    ]);
    expect(readCues(file).map(({ text }) => text)).toEqual([TRANSLATED]);
    expect({ charged, billing: job.billing }).toMatchObject(ONE_MINUTE);
  });
});

it(
  'a server that refuses the key fails the job with its own message, and nothing is charged',
  PATIENCE,
  async () => {
    const server = await startServer(() => ({
      status: 401,
      body: { error: { message: 'Bad key sk-1234567890' } },
    }));
    const key = { env: 'STUDIO_KEY' };
    const studio = await studioWith(
      { recognize: [{ type: 'openai', url: server.url, model: 'large-v3', key }] },
      { ...process.env, STUDIO_KEY: 'sk-1234567890' },
    );
    const clip = secondClip(studio.folder, 'clip.mp4');
    const source = { type: 'upload', upload_id: await studio.upload(clip, 'source_video') };
    const before = await studio.get('credits');
    const job = await studio.finish('auto-localizations', { ...task, source });
    expect(job).toMatchObject({
      status: 'failed',
      error: {
        code: 'ENGINE_ERROR',
        message: expect.stringMatching(
          /^openai large-v3: 127\.0\.0\.1:\d+ answered with 401 \(Bad key \[key\]\); check the key \(variable STUDIO_KEY\)$/,
        ),
      },
      billing: { status: 'released', charged_credits: 0 },
    });
    expect(JSON.stringify(job)).not.toContain('sk-1234567890');
    expect(await studio.get('credits')).toEqual(before);
    // Neither the client nor the service tries again.
    expect(server.received).toHaveLength(1);
  },
);
