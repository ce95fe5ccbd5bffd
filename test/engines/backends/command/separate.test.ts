import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createCommandSeparator } from '../../../../src/engines/backends/command/separate.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { createWork, ffmpeg } from '../../workspace.ts';
import { createParts, script } from '../user-program.ts';

const create = (run: string[], more: object = {}) => {
  const files = { vocals: 'model/{stem}/vocals.wav', background: 'model/{stem}/rest.wav' };
  return createCommandSeparator({ type: 'command', run, ...files, ...more }, createParts());
};

function separate(body: string, more: object = {}) {
  const folder = makeFolder();
  const mix = join(folder, 'mix.wav');
  ffmpeg('-f', 'lavfi', '-i', 'sine=440:duration=0.1:sample_rate=48000', '-ac', '2', mix);
  const work = createWork(folder);
  const separator = create([script(body, 'demucs'), '-o', '{out}', '{input}', '{stem}'], more);
  return { folder, work, stems: separator.separate({ mix, mono: mix, withVoice: false }, work) };
}

const GOOD = 'mkdir -p "$2/model/$4"; cp "$3" "$2/model/$4/vocals.wav"; cp "$3" "$2/model/$4/rest.wav"';

describe('a program that separates', () => {
  test('writes two files into an empty folder', async () => {
    const { folder, stems, work } = separate(`[ -z "$(ls -A "$2")" ] && { ${GOOD}; }`);
    const { vocals, background, speech } = await stems;
    expect(vocals).toMatch(/stems-\w+\/model\/mix\/vocals\.wav$/);
    expect(readFileSync(background)).toEqual(readFileSync(join(folder, 'mix.wav')));
    expect(speech).toBeNull();
    expect(work.reports.at(-1)?.fraction).toBe(1);
  });

  test('may have paths that name the folder', async () => {
    const paths = { vocals: '{out}/model/{stem}/vocals.wav', background: '{out}/model/mix/rest.wav' };
    await expect(separate(GOOD, paths).stems).resolves.toMatchObject({ speech: null });
  });

  test.each([
    ['true', 'did not write model/mix/vocals.wav'],
    [`${GOOD}; echo hello > "$2/model/$4/rest.wav"`, 'wrote model/mix/rest.wav, which is not a WAV file'],
    [`${GOOD}; truncate -s 5G "$2/model/$4/rest.wav"`, 'the limit is 4294967296'],
    [
      'ln -s "$(dirname "$3")" "$2/model"; mkdir "$2/model/mix"; cp "$3" "$2/model/mix/vocals.wav"',
      'as a link to another folder',
    ],
  ])('is named if it runs %s', async (body, message) => {
    await expect(separate(body).stems).rejects.toMatchObject({
      code: 'ENGINE_ERROR',
      message: expect.stringMatching(`^command demucs .*${message}`),
    });
  });
});

test.each([
  [{ vocals: '../a.wav' }, '"vocals" must be a path below {out}'],
  [{ background: '/etc/a.wav' }, '"background" must be a path below {out}'],
  [{ background: 'a/../../b.wav' }, '"background" must be a path below {out}'],
  [{ vocals: '{name}/a.wav' }, '{name} in "vocals" is not replaced; only {stem} is'],
  [{ run: ['demucs', '{input}'] }, '"run" must contain {input}, the WAV to separate, and {out}'],
  [{ run: ['demucs', '{input}', '{output}'] }, '{output} in "run" is not replaced in this step'],
])('an entry with %j is refused', (more, message) => {
  expect(() => create(['demucs', '{input}', '{out}'], more)).toThrow(message);
});
