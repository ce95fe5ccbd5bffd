/** `--sample` of a localization in stages: the beginning of a video as an item of its own, then the whole. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TestSettings } from '../../../src/commands/context/context.ts';
import { ffmpeg, SAMPLE } from '../../engines/workspace.ts';
import { createSmallEngines, mediaOf } from '../../service/harness/small-engines.ts';
import { probeStreams } from '../../support/media.ts';
import { openMediaDesk } from './desk.ts';

/** Seven seconds are two parts, each a started minute. A sample has one. */
const limits: NonNullable<TestSettings['limits']> = {
  seconds: 6,
  bytes: 1e9,
  lines: 100,
  parts: { equalSeconds: 4, mostSeconds: 5.5, mostBytes: 1e9 },
};

const H264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac'];

/** It runs ffmpeg several times, on machines that do other work too. */
const PATIENCE = { timeout: 300_000 };

test(
  'a sample in stages is cut at a pause, has subtitles of its own beside the video, is made from their edited text, and leaves the whole to be done',
  PATIENCE,
  async () => {
    const desk = await openMediaDesk({
      engines: { ...createSmallEngines(), inspect: async () => mediaOf(5) },
    });
    const at = (name: string) => join(desk.folder, name);
    const run = (...more: string[]) => desk.vloc(more, { limits });
    // Speech; nobody speaks from 3.3 to 4.3 s.
    ffmpeg('-ss', '4.8', '-t', '7', '-i', SAMPLE, '-vf', 'scale=64:48,fps=5', ...H264, at('talk.mp4'));
    const words = [
      'localize',
      'talk.mp4',
      '--from',
      'en',
      '--to',
      'es',
      '--split',
      '--original-audio',
      'mute',
    ];
    const stopped = await run(...words, '--sample', '5s', '--stop-after', 'translate');
    expect(stopped.code, stopped.stderr).toBe(0);
    expect(stopped.stderr).toContain('talk.sample.es.srt');
    expect(existsSync(at('talk.es.srt'))).toBe(false);
    const translated = readFileSync(at('talk.sample.es.srt'), 'utf8');
    writeFileSync(at('talk.sample.es.srt'), translated.replace(/\n([a-z].*)\n/i, '\nedited\n'));
    const made = await run(...words, '--sample', '5s', '--from-subtitles', '-o', 'json');
    expect(made.code, made.stderr).toBe(0);
    const { duration } = probeStreams(at('talk.es.sample.mp4'));
    expect(duration).toBeGreaterThan(3.3);
    expect(duration).toBeLessThan(4.3);
    const { sample } = JSON.parse(made.stdout);
    expect(sample.units).toMatchObject([{ unit: 'started_thousand_characters', quantity: 1 }]);
    expect(sample.continue).toBe(`vloc ${words.join(' ')} --from-subtitles -o json`);
    expect(made.stderr).toContain(' paid; the whole costs ');
    expect([desk.count('createSubtitleRecognition'), desk.count('createDubbing')]).toEqual([1, 1]);
    expect(readFileSync(at('talk.sample.es.srt'), 'utf8')).toContain('edited');
    // Two parts are recognized.
    const whole = await run(...words, '--stop-after', 'translate', '--dry-run', '-o', 'json');
    expect(JSON.parse(whole.stdout)).toMatchObject({ jobs: 3 });
    const { items } = JSON.parse((await run('batch', 'status', '.', '--all', '-o', 'json')).stdout);
    const labels = new Set(items.map(({ label }: { label: string }) => label));
    expect(labels).toEqual(new Set(['talk.mp4 (sample)', 'talk.mp4 → es (sample)']));
  },
);
