/** The embedded service without an engine for one of several languages: the others run. */
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { secondClip } from '../../service/media/studio.ts';
import { addTinyWordsAndSpeakers } from '../../support/tiny-catalog.ts';
import { type ModelsDesk, openModelsDesk } from '../models/desk.ts';
import { linesOf } from '../support/run-vloc.ts';

const LOCAL = ['--profile', 'local', '--out', 'out'];
const SRT = '1\n00:00:00,000 --> 00:00:01,000\nGood morning.\n';

async function openDesk(): Promise<ModelsDesk> {
  const desk = await openModelsDesk();
  await writeFile(join(desk.folder, 'talk.srt'), SRT);
  return desk;
}

function failedOf(stdout: string): string[][] {
  const lines = linesOf(stdout);
  return lines.flatMap(({ type, target_language: language, message }) =>
    type === 'failed' ? [[language, message]] : [],
  );
}

it('translates into the others, and says of the language what would do it', async () => {
  const desk = await openDesk();
  const words = ['translate', 'talk.srt', '--from', 'en', '--to', 'es,ja', ...LOCAL];
  const ran = await desk.call([...words, '-o', 'ndjson']);
  expect(ran.code, ran.stderr).toBe(3);
  // The problem says what would do it.
  expect(failedOf(ran.stdout)).toEqual([
    ['ja', expect.stringMatching(/^English cannot be translated to Japanese here.*vloc engines add/)],
  ]);
  expect(ran.stderr).toContain('LANGUAGE_NOT_SUPPORTED');
  expect(ran.stderr).not.toContain('Fix the problems');
  expect(readFileSync(join(desk.folder, 'out', 'talk.es.srt'), 'utf8')).toContain('-->');
  // Alone, it is an error before anything is recorded.
  const alone = await desk.call([...words.with(5, 'ja').with(-1, 'other')]);
  expect([alone.code, existsSync(join(desk.folder, 'other'))]).toEqual([2, false]);
});

it('plans the stages of the others', async () => {
  const desk = await openDesk();
  secondClip(desk.folder, 'talk.mp4');
  const given = ['--source-subtitle', 'talk.srt', '--from', 'en', '--stop-after', 'translate'];
  const words = ['localize', 'talk.mp4', '--to', 'es,ja', ...given, ...LOCAL, '--dry-run', '-o', 'json'];
  const { code, stdout, stderr } = await desk.call(words);
  expect(code, stderr).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({
    jobs: 1,
    not_usable: [
      { target_language: 'ja', problem: expect.stringContaining('English cannot be translated to Japanese') },
    ],
  });
});

it('names the model that is missing, and no recognizer that is there', async () => {
  const desk = await openDesk();
  secondClip(desk.folder, 'talk.mp4');
  const { models, ...rest } = addTinyWordsAndSpeakers(desk.copies, desk.catalog);
  const catalog = {
    ...rest,
    models: models.map((model) => ({
      ...model,
      languages: model.step === 'recognize' ? ['en'] : ['en', 'de'],
    })),
  };
  const { stderr } = await desk.call(['localize', 'talk.mp4', '--to', 'de', ...LOCAL], { catalog });
  expect(stderr).toMatch(/Or download tiny-words \([^)]*\): vloc models install tiny-words/);
  expect(stderr).not.toContain('tiny-ears');
});
