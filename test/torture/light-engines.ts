/**
 * Engines whose media work is light while everything around it is real: child processes started as the engines of the
 * project start theirs, files in the work folder, and work that watches its signal.
 */
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Engines } from '../../src/engines/engine.ts';
import { asJobFailure } from '../../src/media/programs/failures.ts';
import { createPrograms } from '../../src/media/programs/programs.ts';
import type { MediaFile, Work } from '../../src/media/work.ts';
import type { Random } from './random.ts';

/**
 * `mixed` has work that outlives any life of the process, so that a child left behind is seen; `quick` has none; `bulky`
 * makes files of 8 MiB.
 */
export type Pace = 'mixed' | 'quick' | 'bulky';

const LONG_SECONDS = 20;
const LONG_SHARE = 0.05;
/** Of 4 KiB. */
const BULKY_BLOCKS = 2048;
const SUBTITLE = [{ index: 1, start_ms: 0, end_ms: 1000, text: 'he was not an ill disposed young man' }];

export function createLightEngines(random: Random, pace: Pace): Engines {
  const programs = createPrograms(process.env.PATH ?? '');

  async function labour(work: Work): Promise<void> {
    const short = random.between(1, 250) / 1000;
    const seconds = pace === 'mixed' && random.chance(LONG_SHARE) ? LONG_SECONDS : short;
    work.report(0.2);
    await programs.run('sleep', [String(seconds)], { signal: work.signal, folder: work.folder });
    work.report(0.7);
  }

  async function write(work: Work, name: string, contentType: MediaFile['contentType']): Promise<MediaFile> {
    const path = join(work.folder, name);
    const blocks = pace === 'bulky' ? BULKY_BLOCKS : random.between(1, 16);
    const args = ['if=/dev/urandom', `of=${path}`, 'bs=4096', `count=${blocks}`];
    try {
      await programs.run('dd', args, { signal: work.signal, folder: work.folder });
    } catch (error) {
      // As the door of the engines does it.
      throw asJobFailure(error, work.signal);
    }
    return { path, contentType };
  }

  return {
    async capabilities() {
      return {
        missing: [],
        recognize: ['en'],
        translate: [{ from: 'en', to: 'es' }],
        speak: [{ language: 'es', voices: ['es'] }],
      };
    },
    async inspect(_file, signal) {
      await programs.run('sleep', ['0.01'], { signal, folder: tmpdir() });
      return {
        duration_seconds: 3,
        container: 'mp4',
        video: { codec: 'h264', width: 160, height: 90, frame_rate: 25 },
        audio: { codec: 'aac', sample_rate: 16_000, channels: 1 },
      };
    },
    run: {
      async audio_separation(_task, work) {
        await labour(work);
        return {
          vocalAudio: await write(work, 'voice.wav', 'audio/wav'),
          backgroundAudio: await write(work, 'rest.wav', 'audio/wav'),
        };
      },
      async subtitle_recognition(_task, work) {
        await labour(work);
        return { subtitle: { language: 'en', lines: SUBTITLE } };
      },
      async subtitle_translation(task, work) {
        await labour(work);
        await writeFile(join(work.folder, 'rough.txt'), JSON.stringify(task.lines));
        return { subtitle: { language: task.targetLanguage, lines: task.lines } };
      },
      async dubbing(_task, work) {
        await labour(work);
        return { audio: await write(work, 'dub.wav', 'audio/wav'), durationSeconds: 1 };
      },
      async auto_localization(_task, work) {
        await labour(work);
        return { video: await write(work, 'result.mp4', 'video/mp4'), durationSeconds: 3 };
      },
    },
  };
}
