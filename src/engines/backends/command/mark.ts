/** A mark by a program of the user, such as a manifest that c2patool signs. */
import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readComment } from '../../../media/export/mark.ts';
import type { Marker } from '../../backend.ts';
import type { TypedEntry } from '../../config.ts';
import type { BackendParts } from '../parts.ts';
import { unusableEntryFailure } from '../parts.ts';
import { checkResult, createProgram, nameResult } from './program.ts';

/** It reads and writes the video once, and may ask a server for the time. */
const TIMEOUT = 3_600;

/** @throws JobFailure if the entry cannot work */
export function createCommandMarker(entry: TypedEntry<'mark', 'command'>, parts: BackendParts): Marker {
  const program = createProgram(entry, parts, { allowed: ['input', 'output'], timeout: TIMEOUT });
  if (!program.uses('input') || !program.uses('output'))
    throw unusableEntryFailure(
      `${program.name}: "run" must contain {input}, the finished video, and {output}, the video that it writes`,
    );
  return {
    name: program.name,
    concurrency: entry.concurrency ?? 1,
    close: async () => {},
    async mark(video, run) {
      const folder = await realpath(resolve(run.folder));
      const shown = '{output}';
      const output = join(folder, nameResult('.mp4'));
      await program.run({ input: resolve(video), output }, run);
      const maxBytes = Number.MAX_SAFE_INTEGER;
      const path = await checkResult(program, output, { folder, shown, maxBytes });
      if ((await readComment(parts.programs, path, run)) === null)
        throw program.failure('wrote a file that is no video');
      return path;
    },
  };
}
