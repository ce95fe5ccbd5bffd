/** `--bilingual` of a localization, from the command to the subtitles in the file. */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { digestOf, startStaging } from './staging.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es', '--from', 'en'];
const SOFT = [...LOCALIZE, '--subtitle-output', 'soft'];

function textsIn(video: string): string[] {
  const srt = execFileSync('ffmpeg', ['-v', 'error', '-i', video, '-map', '0:s:0', '-f', 'srt', '-'], {
    encoding: 'utf8',
  });
  return srt
    .replaceAll('\r', '')
    .trim()
    .split('\n\n')
    .map((cue) => cue.split('\n').slice(2).join(' | '));
}

it('a track has both languages, the dub only the translation, and another place pays nothing', async () => {
  const vloc = await startStaging();
  const localize = async (...words: string[]) => {
    const ended = await vloc.run([...SOFT, ...words]);
    expect(ended.code, ended.stderr).toBe(0);
    return textsIn(vloc.path('talk.es.mp4'));
  };
  const above = ['good morning | GOOD MORNING', 'and good night | AND GOOD NIGHT'];
  expect(await localize('--bilingual', 'above')).toEqual(above);
  expect(vloc.dubbed).toEqual(['GOOD MORNING | AND GOOD NIGHT']);
  expect(vloc.read('talk.es.srt')).not.toContain('good morning');
  const jobs = await vloc.jobs();
  expect(jobs).toEqual([1, 1, 1, 1]);
  const written = digestOf(vloc.path('talk.es.mp4'));
  expect(await localize('--bilingual', 'above')).toEqual(above);
  expect((await vloc.run(['batch', 'retry', '.'])).code).toBe(0);
  expect(digestOf(vloc.path('talk.es.mp4'))).toBe(written);
  expect(await localize('--bilingual', 'below')).toEqual([
    'GOOD MORNING | good morning',
    'AND GOOD NIGHT | and good night',
  ]);
  // The words of the source belong to the video, not to the dub.
  await vloc.edit('talk.en.srt', 'and good night', 'and a good night');
  await vloc.edit('talk.es.srt', 'AND GOOD NIGHT', 'y buenas noches');
  expect(await localize('--bilingual', 'above', '--from-subtitles')).toEqual([
    'good morning | GOOD MORNING',
    'and a good night | y buenas noches',
  ]);
  expect(vloc.dubbed.at(-1)).not.toContain('a good night');
  expect(await vloc.jobs()).toEqual([1, 1, 2, 1]);
});

it('your own subtitles in both languages need only a dub', async () => {
  const vloc = await startStaging();
  await vloc.run([...LOCALIZE, '--stop-after', 'translate']);
  await vloc.run(['subtitles', 'convert', 'talk.en.srt', 'talk.es.srt', '--to', 'vtt', '--out', 'own']);
  const own = ['--subtitle', 'own/talk.es.vtt', '--source-subtitle', 'own/talk.en.vtt'];
  const ended = await vloc.run([...SOFT, '--bilingual', 'above', '--mode', 'subtitles_only', ...own]);
  expect(ended.code, ended.stderr).toBe(0);
  expect(textsIn(vloc.path('talk.es.mp4'))[0]).toBe('good morning | GOOD MORNING');
  expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);
});

it('a transcript that is gone ends the video before its dub, and one that is brought continues it', async () => {
  const vloc = await startStaging();
  await vloc.run([...LOCALIZE, '--stop-after', 'translate']);
  await vloc.edit('talk.es.srt', 'GOOD MORNING', 'Buenos días');
  const transcript = vloc.read('talk.en.srt');
  for (const name of ['talk.en.srt', '.vloc/stages'])
    rmSync(vloc.path(name), { recursive: true, force: true });
  const jobs = await vloc.jobs();
  const localize = [...SOFT, '--bilingual', 'above', '--from-subtitles'];
  expect(await vloc.run(localize)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the subtitles in the spoken language are gone'),
  });
  expect(await vloc.jobs()).toEqual(jobs);
  writeFileSync(vloc.path('kept.srt'), transcript);
  const ended = await vloc.run([...localize, '--source-subtitle', 'kept.srt']);
  expect(ended.code, ended.stderr).toBe(0);
  expect(textsIn(vloc.path('talk.es.mp4'))[0]).toBe('good morning | Buenos días');
});

it('a dry run says what is free, and both prices', async () => {
  const vloc = await startStaging();
  const ended = await vloc.run([...SOFT, '--bilingual', 'above', '--dry-run']);
  expect(ended.code, ended.stderr).toBe(0);
  expect(ended.stderr + ended.stdout).toContain(
    'Then put together on this machine, with the spoken words above their translation: ',
  );
  expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
});

it('what cannot show both is refused before anything is paid', async () => {
  const vloc = await startStaging();
  await vloc.run([...LOCALIZE, '--stop-after', 'translate']);
  await vloc.run(['subtitles', 'convert', 'talk.es.srt', '--to', 'vtt', '--out', 'own']);
  const before = await vloc.jobs();
  await vloc.addVideo('new.mp4');
  const given = [
    'localize',
    'new.mp4',
    '--to',
    'es',
    '--subtitle',
    'own/talk.es.vtt',
    '--bilingual',
    'above',
  ];
  const both = ['--bilingual', 'above', '--source', 'talk.en.srt'];
  await vloc.run(['subtitles', 'convert', 'talk.es.srt', '--to', 'srt', ...both]);
  for (const [words, why] of [
    [[...LOCALIZE, '--subtitle', 'talk.es+en.srt'], 'talk.es+en.srt: shows two languages, es and en'],
    [
      [...LOCALIZE, '--bilingual', 'above'],
      '--bilingual: is for subtitles in the video; add --subtitle-output soft or burned',
    ],
    [[...SOFT, '--bilingual', 'beside'], 'above'],
    [[...SOFT, '--bilingual', 'above', '--detach'], '--bilingual works in stages only'],
    [
      [...given, '--subtitle-output', 'soft'],
      'has a translation, but no subtitles in the spoken language for --bilingual',
    ],
  ] as const)
    expect(await vloc.run([...words]), why).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  expect(await vloc.jobs()).toEqual(before);
});
