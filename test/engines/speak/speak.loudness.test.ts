import { join } from 'node:path';
import { expect, test } from 'vitest';
import { levelDub } from '../../../src/engines/speak/speak.ts';
import { measureLoudness } from '../../../src/media/audio/loudness.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { createWork, ffmpeg, programs } from '../workspace.ts';

test('a dub gets the usual loudness of speech, within half a unit', async () => {
  const folder = makeFolder();
  const work = createWork(folder);
  const dub = join(folder, 'dub.wav');
  const source = 'anoisesrc=color=pink:seed=1:duration=2:sample_rate=48000:amplitude=0.02';
  ffmpeg('-f', 'lavfi', '-i', source, '-c:a', 'pcm_s16le', dub);
  const filters = await levelDub(programs, dub, work);
  const [, change] = /^volume=(.*)dB$/.exec(filters.join()) ?? [];
  // The loudness of speech is 18 units below full scale.
  expect(((await measureLoudness(programs, dub, work)) ?? 0) + Number(change)).toBeCloseTo(-18, 1);
});
