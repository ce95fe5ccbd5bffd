/** What tests of stages share: a real video, a service whose engines give known words, and the count of its jobs. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ServiceOptions } from '../../../src/service/index.ts';
import { ffmpeg, ffprobe } from '../../engines/workspace.ts';
import { createSmallEngines, type SmallEngines } from '../../service/harness/small-engines.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { startVloc, type VlocScene } from '../support/run-vloc.ts';

const SOURCE_WORDS = ['good morning', 'and good night'];

export interface Staging extends VlocScene {
  readonly engines: SmallEngines;
  readonly path: (name: string) => string;
  readonly read: (name: string) => string;
  readonly has: (name: string) => boolean;
  /** Changes words of a file, as somebody with an editor does. */
  readonly edit: (name: string, from: string, to: string) => Promise<void>;
  readonly addVideo: (name: string) => Promise<void>;
  /** The existing jobs, by kind: `[recognitions, translations, dubs, separations]`. */
  readonly jobs: () => Promise<readonly number[]>;
  /** Texts that were dubbed, the newest last. */
  readonly dubbed: readonly string[];
  /** Holds the next recognition until the returned function is called; others go on. */
  readonly holdRecognition: () => () => void;
}

const COLLECTIONS = ['subtitle-recognitions', 'subtitle-translations', 'dubbings', 'audio-separations'];

type RunEngines = SmallEngines['run'];

/** Starts it with `talk.mp4` in the folder. @param change what its engines do */
export async function startStaging(
  options: Partial<ServiceOptions> = {},
  change: (run: RunEngines) => RunEngines = (run) => run,
): Promise<Staging> {
  const dubbed: string[] = [];
  const gates: Promise<void>[] = [];
  const staged = createStagingEngines(dubbed, gates);
  const engines = { ...staged, run: change(staged.run) };
  const vloc = await startVloc({ engines, ...options });
  const path = (name: string) => join(vloc.folder, name);
  const read = (name: string) => readFileSync(path(name), 'utf8');
  const staging: Staging = {
    ...vloc,
    run: (words, io = {}) => vloc.run(words, { ...io, env: { PATH: rememberingPath(), ...io.env } }),
    engines,
    dubbed,
    holdRecognition: () => {
      const gate = Promise.withResolvers<void>();
      gates.push(gate.promise);
      return gate.resolve;
    },
    path,
    read,
    has: (name) => existsSync(path(name)),
    edit: (name, from, to) => {
      if (!read(name).includes(from)) throw new Error(`${name} has no "${from}"`);
      return writeFile(path(name), read(name).replace(from, to));
    },
    addVideo: async (name) => {
      await mkdir(dirname(path(name)), { recursive: true });
      await writeFile(path(name), sampleVideo());
    },
    jobs: () =>
      Promise.all(
        COLLECTIONS.map(async (collection) => {
          const { json } = await vloc.caller.get(`/v1/${collection}?limit=50`);
          return json.data.length;
        }),
      ),
  };
  await staging.addVideo('talk.mp4');
  return staging;
}

/** The small engines, with two cues and with media that ffmpeg reads. */
function createStagingEngines(dubbed: string[], gates: Promise<void>[]): SmallEngines {
  const small = createSmallEngines();
  return {
    ...small,
    inspect: async () => ({
      duration_seconds: 3,
      container: 'mp4',
      video: { codec: 'h264', width: 64, height: 48, frame_rate: 5 },
      audio: { codec: 'aac', sample_rate: 48_000, channels: 2 },
    }),
    run: {
      ...small.run,
      async subtitle_recognition(task, work) {
        await gates.shift();
        const { subtitle } = await small.run.subtitle_recognition(task, work);
        const lines = SOURCE_WORDS.map((text, at) => ({
          ...{ index: at + 1, start_ms: at * 1500, end_ms: at * 1500 + 1200, text },
        }));
        return { subtitle: { ...subtitle, lines } };
      },
      async dubbing(task, work) {
        dubbed.push(task.lines.map(({ text }) => text).join(' | '));
        return small.run.dubbing(task, work);
      },
    },
  };
}

let video: Buffer | undefined;

/** Three seconds, made once. */
function sampleVideo(): Buffer {
  if (video !== undefined) return video;
  const file = join(makeFolder(), 'video.mp4');
  const picture = ['-f', 'lavfi', '-i', 'testsrc=s=64x48:r=5:d=3'];
  const sound = ['-f', 'lavfi', '-i', 'sine=f=220:r=48000:d=3'];
  ffmpeg(
    ...picture,
    ...sound,
    '-pix_fmt',
    'yuv420p',
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-c:a',
    'aac',
    file,
  );
  video = readFileSync(file);
  return video;
}

/** Codec and language of each stream, such as `h264`, `aac spa`. */
export function streamsOf(file: string): string[] {
  return ffprobe(file, 'stream=codec_name').split('\n');
}

export function digestOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
