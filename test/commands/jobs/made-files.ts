import { statSync } from 'node:fs';
import { basename } from 'node:path';
import type { FileInput } from '../../../src/batch/input.ts';
import { createVideoExaminer } from '../../../src/commands/jobs/examine-video.ts';
import { type PreparationOptions, readPreparation } from '../../../src/commands/jobs/job-options.ts';
import { createPreparation } from '../../../src/commands/jobs/preparation.ts';
import { createWork } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { LIMITS } from './limits.ts';

/** Examines a video or sound and makes the files that would be sent instead of it. */
export async function makeFiles(path: string, options: Partial<PreparationOptions>, limits = LIMITS) {
  const work = createWork(makeFolder());
  const searchPath = rememberingPath();
  const allowed = readPreparation({ split: false, ...options });
  const examine = createVideoExaminer({
    ...{ kind: 'auto_localization', allowed, limits, searchPath, signal: work.signal, isUsedHere: false },
  });
  const { size: bytes } = statSync(path);
  const found = await examine(path, { bytes, isTaken: true });
  if (found.type !== 'usable') throw new Error(found.detail);
  const { seconds, preparation, sample } = found;
  const { prepare } = createPreparation({ env: { PATH: searchPath }, limits });
  const input: FileInput = {
    ...{ type: 'file', label: 'talk', stem: 'talk', name: basename(path), path, mtimeMs: 0 },
    ...{ bytes, contentType: 'video/mp4', seconds, preparation, ...(sample === undefined ? {} : { sample }) },
  };
  return { preparation, files: (await prepare(input, null, work)).files };
}
