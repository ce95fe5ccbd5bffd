import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findSpeechModels } from '../../../src/engines/recognize/pocketsphinx.ts';
import { separate } from '../../../src/engines/separate/separate.ts';
import {
  createWork,
  ffmpeg,
  programs,
  speechClip,
  stepEngines,
  temporaryFolder,
} from '../../engines/workspace.ts';
import { makeVideo } from '../../prepare/workspace.ts';
import { askProgram } from '../../support/remembered-programs.ts';

const MP4 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac'];
const DURATION = ['-v', 'error', '-show_entries', 'format=duration', '-of', 'csv=p=0'];
const secondsOf = (path: string) => Math.round(Number(askProgram('ffprobe', [...DURATION, path])));

test('an answer is remembered for the bytes of a file, not for its name', () => {
  const folder = temporaryFolder();
  const path = makeVideo(folder, 'talk.mp4', 1, ...MP4);
  expect([secondsOf(path), secondsOf(path)]).toEqual([1, 1]);
  copyFileSync(makeVideo(folder, 'longer.mp4', 3, ...MP4), path);
  expect([secondsOf(path), secondsOf(path)]).toEqual([3, 3]);
});

test('an answer is remembered for all arguments', () => {
  const path = makeVideo(temporaryFolder(), 'talk.mp4', 1, ...MP4);
  const bytesOf = (rate: string) => {
    const args = ['-v', 'error', '-i', path, '-ac', '1', '-ar', rate, '-t', '0.5', '-f', 's16le', '-'];
    return askProgram('ffmpeg', args).length;
  };
  expect([bytesOf('8000'), bytesOf('48000'), bytesOf('8000')]).toEqual([8_000, 48_000, 8_000]);
});

test('an error is reported each time', () => {
  const path = join(temporaryFolder(), 'talk.mp4');
  writeFileSync(path, 'no video');
  for (const _ of [1, 2]) expect(() => secondsOf(path)).toThrow('Invalid data');
});

test('results in files are written each time, by the bytes of all inputs', () => {
  const folder = temporaryFolder();
  const video = (name: string, seconds: number) => makeVideo(folder, name, seconds, ...MP4);
  const [short, long] = [video('short.mp4', 1), video('long.mp4', 3)];
  const mapped = (picture: string, sound: string) => {
    const inputs = ['-i', `file:${picture}`, '-i', `file:${sound}`];
    const first = ['-map', '0:v', '-c', 'copy', `file:${join(folder, 'picture.mkv')}`];
    const second = ['-map', '1:a', '-c', 'copy', `file:${join(folder, 'sound.mkv')}`];
    askProgram('ffmpeg', ['-v', 'error', '-y', ...inputs, ...first, ...second]);
    return ['picture.mkv', 'sound.mkv'].map((name) => secondsOf(join(folder, name)));
  };
  expect([mapped(short, long), mapped(long, short), mapped(short, long)]).toEqual([
    [1, 3],
    [3, 1],
    [1, 3],
  ]);
});

test('progress is reported each time', () => {
  const folder = temporaryFolder();
  const path = makeVideo(folder, 'talk.mp4', 1, ...MP4);
  const copy = (name: string) => {
    const copied = ['-v', 'error', '-y', '-progress', 'pipe:1', '-i', path, '-c', 'copy'];
    const told = askProgram('ffmpeg', [...copied, `file:${join(folder, name)}`]).toString();
    return { told, seconds: secondsOf(join(folder, name)) };
  };
  const first = copy('first.mp4');
  expect(first.told).toMatch(/^out_time_us=\d+$/m);
  expect(first.seconds).toBe(1);
  expect(copy('second.mp4')).toEqual(first);
});

test('a file that is joined from a list is remembered for the bytes of the files in the list', () => {
  const folder = temporaryFolder();
  const [short, long] = [1, 2].map((seconds) => makeVideo(folder, `${seconds}.mp4`, seconds, ...MP4));
  const list = join(folder, 'list.ffconcat');
  writeFileSync(list, "ffconcat version 1.0\nfile 'part.mp4'\nfile 'part.mp4'\n");
  const joined = (part = '') => {
    copyFileSync(part, join(folder, 'part.mp4'));
    const whole = join(folder, 'whole.mp4');
    const args = ['-v', 'error', '-y', '-f', 'concat', '-i', `file:${list}`, '-c', 'copy', `file:${whole}`];
    askProgram('ffmpeg', args);
    return secondsOf(whole);
  };
  expect([joined(short), joined(long), joined(short)]).toEqual([2, 4, 2]);
});

test('a translation is remembered for its text', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'eng-spa.txt');
  const translate = async (text: string) => {
    writeFileSync(path, `${text}\n`);
    const args = ['-u', 'eng-spa', path];
    return (await programs.run('apertium', args, createWork(folder))).toString().trim();
  };
  expect(await translate('The house is red')).toBe('La casa es roja');
  expect(await translate('The house is green')).toBe('La casa es verde');
  expect(await translate('The house is red')).toBe('La casa es roja');
});

test('stems and the times of speech are remembered for a sound, not for its path', async () => {
  const split = async (...options: string[]) => {
    const folder = temporaryFolder();
    const input = ['-f', 'lavfi', '-i', 'color=black:s=16x16:r=1:d=2', '-i', speechClip('0880')];
    const path = join(folder, 'talk.mov');
    ffmpeg(...input, ...options, '-t', '2', '-c:v', 'mjpeg', '-c:a', 'pcm_s16le', path);
    const work = createWork(folder);
    const { vocals, background, voice, segments } = await separate(await stepEngines(), path, true, work);
    const bytes = [vocals, background, voice ?? ''].map((stem) => readFileSync(stem));
    return { bytes, segments, reports: work.reports };
  };
  const first = await split();
  expect(first.segments).toHaveLength(1);
  expect(await split()).toEqual(first);
  expect((await split('-af', 'volume=0')).segments).toEqual([]);
});

test('words are remembered for a sound, not for its path, and the log is written each time', async () => {
  const logs: number[] = [];
  const hear = async (...options: string[]) => {
    const folder = temporaryFolder();
    ffmpeg('-i', speechClip('0870'), ...options, join(folder, 'one.wav'));
    writeFileSync(join(folder, 'list'), 'one\n');
    const [model] = findSpeechModels();
    const args = [
      ...[
        '-hmm',
        model?.acousticModel ?? '',
        '-lm',
        model?.languageModel ?? '',
        '-dict',
        model?.dictionary ?? '',
      ],
      ...['-ctl', join(folder, 'list'), '-cepdir', folder, '-cepext', '.wav', '-adcin', 'yes'],
      ...['-hypseg', join(folder, 'words')],
    ];
    const log: string[] = [];
    await programs.run('pocketsphinx_batch', args, {
      ...createWork(folder),
      onErrorLine: (line) => log.push(line),
    });
    logs.push(log.filter((line) => line.includes('seconds speech')).length);
    return readFileSync(join(folder, 'words'), 'utf8');
  };
  const heard = await hear('-t', '1.5');
  expect(heard).toContain('one');
  expect(await hear('-t', '1.5')).toBe(heard);
  expect(await hear('-t', '1')).not.toBe(heard);
  expect(logs[0]).toBeGreaterThan(0);
  expect(logs[1]).toBe(logs[0]);
});
