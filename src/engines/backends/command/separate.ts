/** Separation by a program of the user, such as Demucs. */
import { mkdtemp, open, realpath } from 'node:fs/promises';
import { basename, extname, isAbsolute, join, resolve } from 'node:path';
import type { Separator } from '../../backend.ts';
import type { TypedEntry } from '../../config.ts';
import type { BackendParts } from '../parts.ts';
import { unusableEntryFailure } from '../parts.ts';
import { checkResult, createProgram, type UserProgram } from './program.ts';

/** Demucs on one core takes about three times the length of the sound, which is at most 15 minutes. */
const TIMEOUT = 3_600;
/** The size of a WAV is a number of 32 bits. */
const MAX_BYTES = 2 ** 32;

/** @throws JobFailure if the entry cannot work */
export function createCommandSeparator(
  entry: TypedEntry<'separate', 'command'>,
  parts: BackendParts,
): Separator {
  const program = createProgram(entry, parts, { allowed: ['input', 'out', 'stem'], timeout: TIMEOUT });
  const vocals = relativePath(program, 'vocals', entry.vocals);
  const background = relativePath(program, 'background', entry.background);
  if (!program.uses('input') || !program.uses('out')) {
    throw unusableEntryFailure(
      `${program.name}: "run" must contain {input}, the WAV to separate, and {out}, a folder`,
    );
  }
  return {
    name: program.name,
    concurrency: entry.concurrency ?? 1,
    close: async () => {},
    async separate(task, work) {
      const out = await realpath(await mkdtemp(join(resolve(work.folder), 'stems-')));
      const input = resolve(task.mix);
      const stem = basename(input, extname(input));
      await program.run({ input, out, stem }, work);
      const check = async (path: string) => {
        const shown = path.replaceAll('{stem}', stem);
        const file = await checkResult(program, join(out, shown), {
          folder: out,
          shown,
          maxBytes: MAX_BYTES,
        });
        await checkWav(program, file, shown);
        return file;
      };
      const stems = { vocals: await check(vocals), background: await check(background), speech: null };
      work.report(1);
      return stems;
    },
  };
}

/** @throws JobFailure for a path that leads out of the folder */
function relativePath(program: UserProgram, field: string, path: string): string {
  const below = path.startsWith('{out}/') ? path.slice('{out}/'.length) : path;
  const other = /\{(?!stem\})[^}]*\}/.exec(below)?.[0];
  if (other !== undefined) {
    throw unusableEntryFailure(`${program.name}: ${other} in "${field}" is not replaced; only {stem} is`);
  }
  if (isAbsolute(below) || below.split(/[/\\]/).includes('..')) {
    throw unusableEntryFailure(
      `${program.name}: "${field}" must be a path below {out}, such as {stem}/vocals.wav`,
    );
  }
  return below;
}

async function checkWav(program: UserProgram, path: string, shown: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    const { buffer } = await file.read(Buffer.alloc(12), 0, 12, 0);
    const isWav =
      /^(RIFF|RF64)$/.test(buffer.toString('latin1', 0, 4)) && buffer.toString('latin1', 8) === 'WAVE';
    if (!isWav) throw program.failure(`wrote ${shown}, which is not a WAV file`);
  } finally {
    await file.close();
  }
}
