/** `--bilingual` of a localization, from the command to the subtitles in the file. */
import { rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readCues } from '../../support/media.ts';
import { startStaging } from './staging.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es', '--from', 'en'];
const SOFT = [...LOCALIZE, '--subtitle-output', 'soft'];

const vtt = (text: string) => `WEBVTT\n\n00:00.000 --> 00:01.200\n${text}\n`;

it('a track has both languages in the order asked for, and your own subtitles need no job to be shown', async () => {
  const vloc = await startStaging();
  writeFileSync(vloc.path('own.es.vtt'), vtt('GOOD MORNING'));
  writeFileSync(vloc.path('own.en.vtt'), vtt('good morning'));
  const own = ['--subtitle', 'own.es.vtt', '--source-subtitle', 'own.en.vtt', '--mode', 'subtitles_only'];
  const localize = async (...words: string[]) => {
    const ended = await vloc.run([...SOFT, ...own, '--bilingual', ...words]);
    expect(ended.code, ended.stderr).toBe(0);
    return ended;
  };
  const { stdout, stderr } = await localize('above', '--dry-run');
  expect(stderr + stdout).toContain(
    'Then put together on this machine, with the spoken words above their translation: ',
  );
  await localize('below');
  expect(readCues(vloc.path('talk.es.mp4'))).toMatchObject([{ text: 'GOOD MORNING\ngood morning' }]);
  expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
});

it('a transcript that is gone ends the video before its dub, and one that is brought continues it', async () => {
  const vloc = await startStaging();
  await vloc.run([...LOCALIZE, '--stop-after', 'translate']);
  await vloc.edit('talk.es.srt', 'GOOD MORNING', 'Buenos días');
  const transcript = vloc.read('talk.en.srt');
  for (const name of ['talk.en.srt', '.vloc/stages'])
    rmSync(vloc.path(name), { recursive: true, force: true });
  const localize = [...SOFT, '--bilingual', 'above', '--from-subtitles'];
  expect(await vloc.run(localize)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the subtitles in the spoken language are gone'),
  });
  expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);
  writeFileSync(vloc.path('kept.srt'), transcript);
  const planned = await vloc.run([...localize, '--source-subtitle', 'kept.srt', '--dry-run']);
  expect(planned.code, planned.stderr).toBe(0);
});

it('what cannot show both is refused before anything is paid', async () => {
  const vloc = await startStaging();
  writeFileSync(vloc.path('own.es.vtt'), vtt('GOOD MORNING'));
  writeFileSync(vloc.path('talk.es+en.srt'), '1\n00:00:00,000 --> 00:00:01,000\nhello\nHELLO\n');
  for (const [words, why] of [
    [[...LOCALIZE, '--subtitle', 'talk.es+en.srt'], 'talk.es+en.srt: shows two languages, es and en'],
    [
      [...LOCALIZE, '--bilingual', 'above'],
      '--bilingual: is for subtitles in the video; add --subtitle-output soft or burned',
    ],
    [[...SOFT, '--bilingual', 'beside'], 'above'],
    [[...SOFT, '--bilingual', 'above', '--detach'], '--bilingual works in stages only'],
    [
      [...SOFT, '--bilingual', 'above', '--subtitle', 'own.es.vtt'],
      'has a translation, but no subtitles in the spoken language for --bilingual',
    ],
  ] as const)
    expect(await vloc.run([...words]), why).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
});
