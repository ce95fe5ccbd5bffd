/** Jobs whose steps are done by engines of `engines.json`: real servers and programs, from the upload to the charge. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EnginesConfig } from '../../../src/engines/config.ts';
import { RUNTIME, tinyModel } from '../../engines/backends/llama/llama.ts';
import { type LoopbackServer, startServer } from '../../engines/backends/loopback-server.ts';
import { writeTinyRecognizer, writeTinyVoice } from '../../engines/backends/sherpa/tiny-models.ts';
import { nodeScript } from '../../engines/backends/user-program.ts';
import { startWhisperServer, WHISPER_SERVER } from '../../engines/backends/whisper-server.ts';
import { ffmpeg, speechClip } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { pictureSums, probeStreams, readCues } from '../../support/media.ts';
import { openStudio, PATIENCE, type Studio, secondClip } from './studio.ts';

/** Opens a studio that ends with the test. Then none of its engines may run. */
async function studioWith(config: EnginesConfig | null, env = process.env): Promise<Studio> {
  const before = childProcesses();
  const studio = await openStudio({ config, env });
  onTestFinished(async () => {
    await studio.close();
    expect(childProcesses().filter((pid) => !before.includes(pid))).toEqual([]);
  });
  return studio;
}

/** Ids of the processes that this one started, and that run now. Linux only: elsewhere none are found. */
function childProcesses(): number[] {
  if (!existsSync('/proc')) return [];
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      return Number(parent) === process.pid && state !== 'Z';
    } catch {
      return false; // it has just ended
    }
  });
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

/** A server with OpenAI's interface: it adds a word to each cue, and speaks each text as the same second of speech. */
async function startOpenAi(): Promise<LoopbackServer> {
  const wav = join(makeFolder(), 'second.wav');
  ffmpeg('-ss', '0.5', '-t', '1', '-i', speechClip('0880'), '-ar', '24000', wav);
  const sound = readFileSync(wav);
  return startServer(({ path, body }) => {
    if (path === '/v1/audio/speech') return { headers: { 'Content-Type': 'audio/wav' }, body: sound };
    if (path !== '/v1/chat/completions') return { status: 404 };
    const { cues } = JSON.parse(JSON.parse(body.toString()).messages[1].content);
    const answer = cues.map(({ id, text }: { id: number; text: string }) => ({ id, text: `Sí, ${text}` }));
    return { body: { choices: [{ message: { content: JSON.stringify({ cues: answer }) } }] } };
  });
}

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
  it.skipIf(WHISPER_SERVER === null)(
    "by whisper.cpp's server, a language model, a voice server and a program (needs: sh .ci/whisper-server)",
    async () => {
      const whisper = await startWhisperServer();
      onTestFinished(() => whisper.stop());
      const openai = await startOpenAi();
      const key = { env: 'STUDIO_KEY' };
      const config: EnginesConfig = {
        recognize: [{ type: 'openai', url: whisper.url, model: 'tiny' }, 'pocketsphinx'],
        translate: [{ type: 'openai', url: openai.url, model: 'qwen3', key }, 'apertium'],
        speak: [{ type: 'openai', url: openai.url, model: 'kokoro', key, voices: { es: 'ef_dora' } }],
        separate: [FFMPEG_SEPARATOR],
      };
      const studio = await studioWith(config, { ...process.env, STUDIO_KEY: 'sk-1234567890' });
      const clip = secondClip(studio.folder, 'clip.mp4');
      const { job, charged, file } = await localize(studio, clip);
      expectDubbed(file, clip);
      const cues = readCues(file);
      expect(cues.length).toBeGreaterThan(0);
      expect(cues.filter(({ text }) => !/^Sí, w\d+/.test(text))).toEqual([]);
      expect({ charged, billing: job.billing }).toMatchObject(ONE_MINUTE);
      expect(await studio.enginesOf(job)).toEqual([
        'separate: command ffmpeg',
        'recognize: openai tiny',
        'translate: openai qwen3',
        'speak: openai kokoro',
      ]);
      const paths = openai.received.map(({ path }) => path);
      expect(paths.filter((path) => path === '/v1/audio/speech').length).toBeGreaterThan(0);
      const authorizations = new Set(openai.received.map(({ headers }) => headers.authorization));
      expect([...authorizations]).toEqual(['Bearer sk-1234567890']);
      expect(JSON.stringify(job)).not.toContain('sk-1234567890');
    },
  );

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

  it.skipIf(RUNTIME === null)(
    'by models of sherpa and llama, which are loaded once for two videos (needs: sh .ci/llama)',
    async () => {
      const models = makeFolder();
      const studio = await studioWith({
        recognize: [{ type: 'sherpa', folder: writeTinyRecognizer(join(models, 'ba')), languages: ['en'] }],
        translate: [{ type: 'llama', model: tinyModel('hola'), runtime: RUNTIME ?? '' }],
        speak: [{ type: 'sherpa', folder: writeTinyVoice(join(models, 'tone')), languages: ['es'] }],
        separate: [FFMPEG_SEPARATOR],
      });
      const first = secondClip(studio.folder, 'first.mp4');
      const { file, charged, job } = await localize(studio, first);
      expectDubbed(file, first);
      expect(await studio.enginesOf(job)).toEqual([
        'separate: command ffmpeg',
        'recognize: sherpa ba',
        'translate: llama tiny',
        'speak: sherpa tone',
      ]);
      const texts = readCues(file).map(({ text }) => text);
      expect(texts.length).toBeGreaterThan(0);
      expect(new Set(texts)).toEqual(new Set(['hola']));
      expect({ charged, billing: job.billing }).toMatchObject(ONE_MINUTE);
      const loaded = childProcesses();
      // Another sound, else its steps would be known.
      await localize(studio, secondClip(studio.folder, 'second.mp4', '-af', 'volume=0.9'));
      expect(childProcesses()).toEqual(loaded);
    },
  );
});

const BUILT_IN: EnginesConfig = {
  recognize: ['pocketsphinx'],
  translate: ['apertium'],
  speak: ['espeak-ng'],
  separate: ['builtin'],
};

it('built-in engines can be named in the file', PATIENCE, async () => {
  const studio = await studioWith(BUILT_IN);
  const { job } = await localize(studio, secondClip(studio.folder, 'clip.mp4'));
  // As without a file: test/e2e/localize.test.ts.
  expect(await studio.enginesOf(job)).toEqual([
    'separate: builtin',
    'recognize: pocketsphinx',
    'translate: apertium',
    'speak: espeak-ng',
  ]);
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
    expect(await studio.get('credits')).toEqual(before);
    // Neither the client nor the service tries again.
    expect(server.received).toHaveLength(1);
  },
);
