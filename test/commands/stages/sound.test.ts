import { expect, it } from 'vitest';
import { makeSound, measureSound, readSound, TAGS } from '../../support/sounds.ts';
import { startStaging } from './staging.ts';

/** Each runs ffmpeg a dozen times, on machines that do other work too. */
const PATIENCE = { timeout: 300_000 };

it(
  'an episode is localized in stages, with subtitles to edit, and comes back in its format',
  PATIENCE,
  async () => {
    const { run, path, has, edit, jobs, folder, dubbed } = await startStaging();
    makeSound(folder, 'episode.mp3');
    const words = ['localize', 'episode.mp3', '--to', 'es'];
    const stopped = await run([...words, '--stop-after', 'translate']);
    expect(stopped.code, stopped.stderr).toBe(0);
    expect([has('episode.en.srt'), has('episode.es.srt'), has('episode.es.mp3')]).toEqual([
      true,
      true,
      false,
    ]);
    await edit('episode.es.srt', 'GOOD MORNING', 'BUENOS DIAS');
    const plan = await run([...words, '--from-subtitles', '--dry-run']);
    expect(plan.code, plan.stderr).toBe(0);
    expect(plan.stderr + plan.stdout).toContain('put into an MP4 with a still picture');
    const whole = await run([...words, '--from-subtitles', '--original-audio', 'duck']);
    expect(whole.code, whole.stderr).toBe(0);
    expect(dubbed).toEqual(['BUENOS DIAS | AND GOOD NIGHT']);
    const { container, codec, tags, chapters, covers } = readSound(path('episode.es.mp3'));
    expect({ container, codec, chapters, covers }).toEqual({
      ...{ container: 'mp3', codec: 'mp3', chapters: ['0.0 One', '1.0 Two'], covers: 1 },
    });
    expect(tags).toMatchObject(TAGS);
    const made = await jobs();
    const louder = await run([
      ...words,
      '--from-subtitles',
      '--original-audio',
      'duck',
      '--loudness',
      '-23',
      '--clobber',
    ]);
    expect(louder.code, louder.stderr).toBe(0);
    expect(Math.abs(measureSound(path('episode.es.mp3')).lufs + 23)).toBeLessThanOrEqual(0.5);
    expect(await jobs()).toEqual(made);
  },
);
