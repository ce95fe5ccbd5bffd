/** Sound in, sound out: episodes of podcasts, and the sound of videos alone. */
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { ffmpeg } from '../../engines/workspace.ts';
import { makeVideo } from '../../prepare/workspace.ts';
import { until } from '../../service/harness/scene.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { makeSound, measureSound, readSound, TAGS } from '../../support/sounds.ts';
import { startWatch } from '../support/start-watch.ts';
import { openMediaDesk } from './desk.ts';

/** Each runs ffmpeg a dozen times, on machines that do other work too. */
const PATIENCE = { timeout: 300_000 };
const MP4 = [
  '-vf',
  'scale=64:48',
  '-pix_fmt',
  'yuv420p',
  '-c:v',
  'libx264',
  '-preset',
  'ultrafast',
  '-c:a',
  'aac',
];

const namesIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .sort();

describe('an episode', PATIENCE, () => {
  it.each(['mp3', 'oga'])(
    'in %s is planned with its still picture, charged so, written in its format, and done when it runs again',
    async (extension) => {
      const desk = await openMediaDesk();
      const name = `episode.${extension}`;
      const source = makeSound(desk.folder, name);
      const words = ['localize', name, '--to', 'es', '-o', 'json'];
      const plan = await desk.vloc([...words, '--dry-run']);
      expect(plan.code, plan.stderr).toBe(0);
      expect(plan.stderr).toMatch(
        /: put into an MP4 with a still picture of about [\d.]+ kB and 3 s, since the service accepts only videos/,
      );
      expect(plan.stderr).toContain(
        `${name}: the sound of the delivered video is written as ${extension.toUpperCase()} on this machine, free, with its tags.`,
      );
      const { items, upload_bytes, quantity } = JSON.parse(plan.stdout);
      const path = join(desk.folder, `episode.es.${extension}`);
      expect(items).toMatchObject([{ conversion: 'still', results: [path], unit: 'started_minute' }]);
      expect(items[0].still.seconds).toBeCloseTo(3, 0);
      expect(items[0].still.bytes).toBe(upload_bytes);

      const { code, stderr, stdout } = await desk.vloc(words);
      expect(code, stderr).toBe(0);
      const [made] = JSON.parse(stdout).data;
      expect(made.charged_credits).toBe(quantity);
      expect(made.files[0]).toMatchObject({ path, kept: `sound as ${extension}` });
      const { container, codec, chapters, covers } = readSound(source);
      expect(readSound(path)).toMatchObject({ container, codec, chapters, covers, tags: TAGS });

      const again = await desk.vloc(words);
      expect(JSON.parse(again.stdout).data[0].files[0]).toMatchObject({ path, skipped: true });
      expect(desk.count('createAutoLocalization')).toBe(1);
    },
  );

  it('is refused with what only a picture can have, before anything is sent', async () => {
    const desk = await openMediaDesk();
    makeSound(desk.folder, 'episode.mp3');
    for (const asked of [
      ['--subtitle-output', 'burned'],
      ['--subtitle-output', 'soft'],
      ['--resolution', '720p'],
      ['--keep-audio'],
      ['--mode', 'subtitles_only'],
      ['--name', '{stem}.{lang}.mp4'],
    ]) {
      const { code, stderr } = await desk.vloc(['localize', 'episode.mp3', '--to', 'es', ...asked]);
      expect(code, stderr).toBe(2);
      expect(stderr).toContain(asked[0]);
      expect(stderr).toContain('nothing was sent');
    }
    expect(desk.count('createUpload')).toBe(0);
  });

  it('is cut into parts like a video', async () => {
    const desk = await openMediaDesk();
    makeSound(desk.folder, 'episode.mp3', 6);
    const words = ['localize', 'episode.mp3', '--to', 'es', '--split', '--out', 'out'];
    const { code, stderr } = await desk.vloc(words);
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/cut at silences into about \d parts/);
    expect(namesIn(join(desk.folder, 'out'))).toEqual(['episode.es.mp3']);
    const whole = readSound(join(desk.folder, 'out', 'episode.es.mp3'));
    expect(whole).toMatchObject({ tags: TAGS, covers: 1 });
    expect(Math.abs(whole.seconds - 6)).toBeLessThan(0.15);
  });

  it('is sampled, and downloaded again, also as the video that the service has made', async () => {
    const desk = await openMediaDesk();
    makeSound(desk.folder, 'episode.mp3', 6);
    const sample = await desk.vloc(['localize', 'episode.mp3', '--to', 'es', '--sample', '5s']);
    expect(sample.code, sample.stderr).toBe(0);
    expect(readSound(join(desk.folder, 'episode.es.sample.mp3')).chapters).toEqual(['0.0 One', '1.0 Two']);
    makeSound(desk.folder, 'short.mp3', 2);
    const run = await desk.vloc(['localize', 'short.mp3', '--to', 'es', '--out', 'out', '-o', 'json']);
    const { id } = JSON.parse(run.stdout).data[0];
    const again = await desk.vloc(['jobs', 'download', id, '--out', 'again']);
    expect(again.code, again.stderr).toBe(0);
    const asIs = await desk.vloc(['jobs', 'download', id, '--out', 'plain', '--as-is']);
    expect(asIs.code, asIs.stderr).toBe(0);
    expect(namesIn(join(desk.folder, 'again'))).toEqual(['short.es.mp3']);
    expect(readSound(join(desk.folder, 'again', 'short.es.mp3')).tags).toMatchObject(TAGS);
    expect(namesIn(join(desk.folder, 'plain'))).toEqual(['short.es.mp4']);
    const file = await desk.vloc(['localize', 'short.mp3', '--to', 'es', '--out', 'short.es.mp3']);
    expect(file.stderr).toContain('--out must be a folder, but short.es.mp3 is the name of a file');
  });
});

describe('a folder', PATIENCE, () => {
  it('has its sound files as loud as asked for, and one that failed is made by `batch retry` alone', async () => {
    const desk = await openMediaDesk();
    await mkdir(join(desk.folder, 'in'));
    for (const [at, name] of ['a.mp3', 'b.flac', 'c.wav'].entries())
      makeSound(desk.folder, `in/${name}`, 1 + at / 10);
    desk.engines.failNext(new JobFailure('MEDIA_CORRUPT', 'not today'));
    const words = ['localize', 'in', '--to', 'es', '--out', 'out', '--loudness', '-16'];
    const failed = await desk.vloc(words);
    expect(failed.code, failed.stderr).toBe(3);
    expect(namesIn(join(desk.folder, 'out'))).toHaveLength(2);
    const retried = await desk.vloc(['batch', 'retry', 'out', '--all']);
    expect(retried.code, retried.stderr).toBe(0);
    expect(namesIn(join(desk.folder, 'out'))).toEqual(['a.es.mp3', 'b.es.flac', 'c.es.wav']);
    for (const name of namesIn(join(desk.folder, 'out'))) {
      expect(readSound(join(desk.folder, 'out', name)).tags).toMatchObject(TAGS);
      expect(Math.abs(measureSound(join(desk.folder, 'out', name)).lufs + 16)).toBeLessThanOrEqual(0.5);
    }
    expect(desk.count('createAutoLocalization')).toBe(4);
  });

  it('that is watched gives a sound file that arrives', async () => {
    const desk = await openMediaDesk();
    await mkdir(join(desk.folder, 'in'));
    const scene = { ...desk, env: { ...desk.env, PATH: rememberingPath() } };
    const watch = await startWatch(scene, ['localize', 'in', '--to', 'es', '--out', 'out', '--watch']);
    makeSound(desk.folder, 'in/episode.mp3', 1);
    watch.goOn();
    await until(async () => existsSync(join(desk.folder, 'out/episode.es.mp3')), Boolean);
    const { code, stderr } = await watch.stop();
    expect(code).toBe(130);
    expect(stderr).toContain('Stopped watching: 1 done.');
    expect(readSound(join(desk.folder, 'out/episode.es.mp3'))).toMatchObject({ covers: 1, tags: TAGS });
  });

  it('gives its sound files, but none beside a video of the same name and no results', async () => {
    const desk = await openMediaDesk();
    await mkdir(join(desk.folder, 'in/week1'), { recursive: true });
    makeVideo(desk.folder, 'in/talk.mp4', 1, ...MP4);
    makeSound(desk.folder, 'in/episode.mp3', 1);
    for (const name of ['talk.m4a', 'talk.es.wav', 'week1/talk.mp3']) {
      makeSound(desk.folder, `in/${name}`, 1);
    }
    const words = ['recognize', '.', '--out', '.'];
    const { code, stderr } = await desk.vloc(words, { cwd: join(desk.folder, 'in') });
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(
      'Skipped sound files beside a video of the same name: talk.es.wav and 1 more; name such a file itself to use it.',
    );
    expect(namesIn(join(desk.folder, 'in')).filter((name) => name.endsWith('.srt'))).toEqual([
      'episode.en.srt',
      'talk.en.srt',
    ]);
    expect(namesIn(join(desk.folder, 'in/week1'))).toEqual(['talk.en.srt', 'talk.mp3']);
    expect(desk.count('createSubtitleRecognition')).toBe(3);
    // Stems of an earlier run are no inputs of the next one.
    const separate = ['separate', '.', '--out', '.', '--exclude', 'talk*'];
    await desk.vloc(separate, { cwd: join(desk.folder, 'in') });
    const again = await desk.vloc(separate, { cwd: join(desk.folder, 'in') });
    expect(again.code, again.stderr).toBe(0);
    expect(desk.count('createAudioSeparation')).toBe(1);
    const named = await desk.vloc(['recognize', 'in/talk.m4a', '--out', 'named']);
    expect(named.code, named.stderr).toBe(0);
    expect(namesIn(join(desk.folder, 'named'))).toEqual(['talk.en.srt']);
  });

  it('runs its videos although burned subtitles are nothing for its sound', async () => {
    const desk = await openMediaDesk();
    await mkdir(join(desk.folder, 'in'));
    makeVideo(desk.folder, 'in/talk.mp4', 1, ...MP4);
    makeSound(desk.folder, 'in/episode.mp3', 1);
    const { code, stderr } = await desk.vloc([
      'localize',
      'in',
      '--to',
      'es',
      '--subtitle-output',
      'soft',
      '--out',
      'out',
    ]);
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('it is sound without a picture, for which --subtitle-output does nothing');
    expect(namesIn(join(desk.folder, 'out'))).toEqual(['talk.es.mp4']);
  });
});

describe('--sound-only', PATIENCE, () => {
  it('writes the sound of a video alone, as loud as asked for, and makes no new job for another loudness', async () => {
    const desk = await openMediaDesk();
    makeVideo(desk.folder, 'talk.mp4', 3, ...MP4);
    const words = ['localize', 'talk.mp4', '--to', 'es', '--sound-only', '--loudness'];
    const { code, stderr } = await desk.vloc([...words, '-16']);
    expect(code, stderr).toBe(0);
    expect(namesIn(desk.folder).filter((name) => name.includes('.es.'))).toEqual(['talk.es.m4a']);
    const path = join(desk.folder, 'talk.es.m4a');
    expect(readSound(path)).toMatchObject({ codec: 'aac', covers: 0, tags: { language: 'spa' } });
    expect(Math.abs(measureSound(path).lufs + 16)).toBeLessThanOrEqual(0.5);
    const other = await desk.vloc([...words, '-23']);
    expect(other.code, other.stderr).toBe(2);
    expect(other.stderr).toContain('sound as m4a at -16 LUFS → sound as m4a at -23 LUFS');
    const again = await desk.vloc([...words, '-23', '--clobber']);
    expect(again.code, again.stderr).toBe(0);
    expect(Math.abs(measureSound(path).lufs + 23)).toBeLessThanOrEqual(0.5);
    expect(desk.count('createAutoLocalization')).toBe(1);
  });

  it('is refused with a picture, and a loudness is refused for a video', async () => {
    const desk = await openMediaDesk();
    makeVideo(desk.folder, 'talk.mp4', 1, ...MP4);
    for (const [asked, text] of [
      [
        ['--sound-only', '--subtitle-output', 'burned'],
        'without a picture, for which --subtitle-output does nothing',
      ],
      [['--loudness', '-14'], 'is for sound; add --sound-only, or give sound'],
    ] as const) {
      const { code, stderr } = await desk.vloc(['localize', 'talk.mp4', '--to', 'es', ...asked]);
      expect(code, stderr).toBe(2);
      expect(stderr).toContain(text);
    }
    expect(desk.count('createUpload')).toBe(0);
  });
});

describe('a hostile file', PATIENCE, () => {
  it('is refused with its reason before anything is sent', async () => {
    const desk = await openMediaDesk();
    const at = (name: string) => join(desk.folder, name);
    const whole = readFileSync(makeSound(desk.folder, 'whole.mp3', 20));
    writeFileSync(at('cut.mp3'), whole.subarray(0, whole.length / 2));
    const wav = readFileSync(makeSound(desk.folder, 'whole.wav'));
    writeFileSync(at('cut.wav'), wav.subarray(0, wav.length / 2));
    const flac = readFileSync(makeSound(desk.folder, 'whole.flac', 20));
    writeFileSync(at('cut.flac'), flac.subarray(0, flac.length / 2));
    writeFileSync(at('text.mp3'), 'not a sound at all');
    writeFileSync(
      at('tag.mp3'),
      Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\0'), Buffer.alloc(5000, 'x')]),
    );
    writeFileSync(at('empty.mp3'), '');
    ffmpeg('-f', 'lavfi', '-i', 'anullsrc', '-t', '0', '-y', at('nothing.wav'));
    const reasons = {
      'cut.mp3': /breaks off at 1\d\.\d s of 20\.\d s: the file is incomplete/,
      'cut.wav': /the last \d+ bytes of the sound are missing: the file is incomplete/,
      'cut.flac': /breaks off at \d+\.\d s of 20\.0 s: the file is incomplete/,
      'text.mp3': /not a supported video.*; sound: MP3, M4A, WAV, FLAC, Ogg, Opus/,
      'tag.mp3': /tag\.mp3/,
      'empty.mp3': /the file is empty/,
      'nothing.wav': /it lasts 0 s/,
    };
    for (const [name, reason] of Object.entries(reasons)) {
      const { code, stderr } = await desk.vloc(['localize', name, '--to', 'es']);
      expect(code, `${name}: ${stderr}`).toBe(2);
      expect(stderr, name).toMatch(reason);
    }
    expect(desk.count('createUpload')).toBe(0);
  });

  it('is what its content says, not its name', async () => {
    const desk = await openMediaDesk();
    const at = (name: string) => join(desk.folder, name);
    copyFileSync(makeVideo(desk.folder, 'video.mp4', 1, ...MP4), at('renamed.mp3'));
    copyFileSync(makeSound(desk.folder, 'sound.m4a', 1), at('pictureless.mp4'));
    const { code, stderr } = await desk.vloc(['localize', 'renamed.mp3', 'pictureless.mp4', '--to', 'es']);
    expect(code, stderr).toBe(0);
    expect(['renamed.es.mp4', 'pictureless.es.m4a'].map((name) => existsSync(at(name)))).toEqual([
      true,
      true,
    ]);
  });
});
