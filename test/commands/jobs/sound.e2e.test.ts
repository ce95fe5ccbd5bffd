/** An episode of a podcast that is too large for one job, as what is sent instead of it. */
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { createVideoExaminer } from '../../../src/commands/jobs/examine-video.ts';
import { readPreparation } from '../../../src/commands/jobs/job-options.ts';
import { createPreparation } from '../../../src/commands/jobs/preparation.ts';
import { createWork } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { makeSound } from '../../support/sounds.ts';

it('it is cut into parts like a video', async () => {
  const path = makeSound(makeFolder(), 'episode.mp3', 3);
  const work = createWork(makeFolder());
  const searchPath = rememberingPath();
  const [seconds, bytes] = [60, 24_000];
  const limits = {
    seconds,
    bytes,
    lines: 4,
    parts: { equalSeconds: seconds, mostSeconds: seconds, mostBytes: bytes },
  };
  const allowed = readPreparation({ split: true });
  const examine = createVideoExaminer({
    ...{ kind: 'auto_localization', allowed, limits, searchPath, signal: work.signal, isUsedHere: false },
  });
  const { size } = statSync(path);
  const found = await examine(path, { bytes: size, isTaken: true });
  if (found.type !== 'usable') throw new Error(found.detail);
  const { prepare } = createPreparation({ env: { PATH: searchPath }, limits });
  const { files } = await prepare(
    {
      ...{ type: 'file', label: 'episode', stem: 'episode', name: basename(path), path, mtimeMs: 0 },
      ...{ bytes: size, contentType: 'video/mp4', seconds: found.seconds, preparation: found.preparation },
    },
    null,
    work,
  );
  expect(files.length).toBeGreaterThan(1);
  expect(files.reduce((sum, { seconds: own }) => sum + (own ?? 0), 0)).toBeCloseTo(3, 0);
});
