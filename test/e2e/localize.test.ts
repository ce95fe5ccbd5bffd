/** The main job as a user has it: the packed tool, the real engines, and the result measured. */
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ffmpeg } from '../engines/workspace.ts';
import { bestDelay, between, decodeSound, loudness, presence, type Sound } from '../support/audio.ts';
import { pictureSums, probeStreams } from '../support/media.ts';
import { type Finished, type Installation, openInstallation, SAMPLE } from './packed.ts';

/** Of the sample: 25 pictures a second. */
const PICTURE_SECONDS = 1 / 25;
const MINUTES = 60_000;

const inFolder = (name: string) => join(vloc.folder, name);

/** Where the first four seconds of the sample are spoken; before, there is music alone. */
const SPOKEN = { start: 1, end: 3.5 };

let vloc: Installation;
beforeAll(async () => {
  vloc = await openInstallation();
  ffmpeg('-i', SAMPLE, '-t', '4', '-c', 'copy', inFolder('short.mp4'));
});
afterAll(() => vloc.remove());

describe('a machine without the engines', () => {
  it('gets one sentence that names what is missing and the command that installs it, before anything is sent', async () => {
    const bare = inFolder('bare');
    mkdirSync(bare);
    symlinkSync(process.execPath, join(bare, 'node'));
    const { code, stderr } = await vloc.runWith({ PATH: bare }, 'localize', 'sample.mp4', '--to', 'es');
    expect(code).toBe(4);
    expect(stderr).toMatch(/ffmpeg is not installed.*\n +vloc engines install/);
    expect(stderr).not.toMatch(/upload/i);
  });
});

describe('vloc localize short.mp4 --to es', () => {
  let finished: Finished;
  let result: Sound;
  beforeAll(async () => {
    finished = await vloc.run('localize', 'short.mp4', '--to', 'es');
    if (finished.code === 0) result = decodeSound(inFolder('short.es.mp4'));
  }, 5 * MINUTES);

  it('ends with 0, and says where the file is, without a price where nothing is charged', () => {
    expect(finished).toMatchObject({ code: 0, stdout: expect.stringContaining(' short.es.mp4 ') });
    for (const word of ['Play it:', 'ffplay', 'Start over']) expect(finished.stderr).not.toContain(word);
  });

  it('shows the stages in their order', () => {
    const stages = [
      'uploading',
      'separating',
      'recognizing',
      'translating',
      'dubbing',
      'exporting',
      'downloading',
    ];
    const seen = stages.map((stage) => finished.stderr.indexOf(stage));
    // On a pipe there is a line at the start, every half minute and at the end; how many depends on the machine.
    expect(finished.stderr).toMatch(/^short\.mp4 → es: \w+/m);
    expect(finished.stderr).toMatch(/^short\.mp4 → es: short\.es\.mp4$/m);
    const shown = seen.filter((at) => at >= 0);
    expect(shown).toEqual([...shown].sort((left, right) => left - right));
  });

  it('keeps every picture and the length of the original', () => {
    expect(pictureSums(inFolder('short.es.mp4'))).toEqual(pictureSums(inFolder('short.mp4')));
    const { duration, streams } = probeStreams(inFolder('short.es.mp4'));
    expect(Math.abs(duration - probeStreams(inFolder('short.mp4')).duration)).toBeLessThanOrEqual(
      PICTURE_SECONDS,
    );
    expect(streams.map((stream) => stream.codec_name)).toEqual(['h264', 'aac']);
    expect(streams[1]?.tags?.language).toBe('spa');
  });

  it('keeps the background sound between the clips', () => {
    const original = decodeSound(SAMPLE);
    const inside = (from: number, to: number) =>
      [between(original, from, to), between(result, from, to)] as const;
    const [before, after] = inside(0.1, 0.9);
    expect(loudness(after) / loudness(before)).toBeGreaterThan(0.7);
    expect(loudness(after) / loudness(before)).toBeLessThan(1.4);
  });

  it(
    'removes the original voice, under the dub too',
    async () => {
      // Its sound is separated already; the name is one with a blank and a letter beyond ASCII.
      copyFileSync(inFolder('short.mp4'), inFolder('lección 1.mp4'));
      expect(await vloc.run('separate', 'lección 1.mp4')).toMatchObject({ code: 0 });
      const voice = decodeSound(inFolder('lección 1.vocals.wav'));
      const original = decodeSound(SAMPLE);
      const { start, end } = SPOKEN;
      const part = between(voice, start, end);
      // 50 ms: more than any encoder delays.
      const delay = bestDelay(part, between(original, start, end), 0.05 * voice.rate);
      expect(Math.abs(delay)).toBeLessThan(0.05 * voice.rate);
      expect(presence(part, between(original, start, end))).toBeGreaterThan(0.8);
      // 0.2 is 14 dB down.
      expect(Math.abs(presence(part, between(result, start, end)))).toBeLessThan(0.2);
    },
    5 * MINUTES,
  );

  it('is not paid a second time: the same command again does nothing', async () => {
    const again = await vloc.run('localize', 'short.mp4', '--to', 'es', '-o', 'plain');
    expect(again).toMatchObject({ code: 0, stdout: `${inFolder('short.es.mp4')}\n` });
    expect(again.stderr).not.toContain('Embedded service');
  });

  it('has the engines in its provenance, which the same command adds for nothing', async () => {
    expect((await vloc.run('localize', 'short.mp4', '--to', 'es', '--provenance')).code).toBe(0);
    const { code, stdout } = await vloc.run('verify', 'short.es.mp4');
    expect(stdout).toContain(
      'recognized by pocketsphinx; translated by apertium; spoken by espeak-ng; separated',
    );
    expect(code).toBe(0);
  });
});

describe('vloc mcp', () => {
  it('offers its tools to an agent', async () => {
    const agent = new Client({ name: 'test', version: '1' });
    const options = { command: vloc.program, env: vloc.env, cwd: vloc.folder, stderr: 'ignore' } as const;
    await agent.connect(
      new StdioClientTransport({ ...options, args: ['mcp', '--read', '.', '--write', '.'] }),
    );
    const { tools } = await agent.listTools();
    await agent.close();
    expect(tools.map(({ name }) => name)).toContain('localize');
  });
});
