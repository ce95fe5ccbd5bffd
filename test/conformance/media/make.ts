/** Creates videos that keep or break a rule, with ffmpeg, from test pictures and a tone. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { UploadFile } from '../service.ts';

const run = promisify(execFile);

export interface Recipe {
  /** Its extension tells ffmpeg the container. */
  readonly name: string;
  readonly seconds?: number;
  readonly picture?: boolean;
  readonly sound?: boolean;
  /** Options that choose codecs or a container. */
  readonly options?: readonly string[];
}

export type MakeVideo = (recipe: Recipe) => Promise<UploadFile>;

/** Small enough to create fifteen minutes in one or two seconds. */
const PICTURE = 'color=c=gray:s=64x48:r=5';
const TONE = 'sine=frequency=440:sample_rate=8000';

/** Returns a function that creates videos, or null if ffmpeg is not on the PATH. */
export async function findVideoMaker(): Promise<MakeVideo | null> {
  try {
    await run('ffmpeg', ['-version']);
  } catch {
    return null;
  }
  return makeVideo;
}

async function makeVideo({
  name,
  seconds = 1,
  picture = true,
  sound = true,
  options = [],
}: Recipe): Promise<UploadFile> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  try {
    const path = join(folder, name);
    const inputs = [
      ...(picture ? ['-f', 'lavfi', '-i', PICTURE] : []),
      ...(sound ? ['-f', 'lavfi', '-i', TONE] : []),
    ];
    await run('ffmpeg', ['-v', 'error', ...inputs, '-t', String(seconds), ...options, path]);
    const bytes = await readFile(path);
    return { purpose: 'source_video', name, contentType: 'application/octet-stream', bytes };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
