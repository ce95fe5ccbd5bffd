/** Localizations that begin with subtitles of the user's own. */
import { rm, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../jobs/limits.ts';
import { startStaging } from './staging.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es'];
/** Which subtitles are used is seen in the translation: a dub would be of it. */
const STOP = ['--stop-after', 'translate'];
const GO_ON = [...LOCALIZE, '--from-subtitles', ...STOP];
/** More than the service accepts in one request. */
const MANY = Array.from({ length: LIMITS.lines + 1 }, (_, at) => `line ${at}`);
const srt = (...texts: string[]) =>
  texts.map((text, at) => `${at + 1}\n00:00:0${at},000 --> 00:00:0${at},900\n${text}\n`).join('\n');

describe('subtitles of the user', () => {
  it('are found beside the videos of a folder, some of which have none', async () => {
    const vloc = await startStaging();
    await rm(vloc.path('talk.mp4'));
    await vloc.addVideo('lessons/one.mp4');
    await vloc.addVideo('lessons/week/two.mp4');
    await writeFile(vloc.path('lessons/one.es.srt'), srt('uno'));
    await writeFile(vloc.path('lessons/week/two.en.srt'), srt('two'));
    const words = ['localize', 'lessons', '--to', 'es,fr', '--from-subtitles', '--out', 'out', '-o', 'json'];
    const { code, stdout, stderr } = await vloc.run([...words, ...STOP]);
    expect(code, stderr).toBe(0);
    // One is heard for its French; two has its words; three translations are missing.
    expect(await vloc.jobs()).toEqual([1, 3, 0, 0]);
    const paths = JSON.parse(stdout).data.map(({ files }: { files: { path: string }[] }) => files[0]?.path);
    const names = ['one.es', 'one.fr', 'week/two.es', 'week/two.fr'];
    expect(paths).toEqual(names.map((name) => vloc.path(`lessons/${name}.srt`)));
    expect(vloc.read('lessons/week/two.fr.srt')).toContain('TWO');
  });

  it.each([
    [{ 'talk.srt': 'one' }, 'ONE'],
    [{ 'talk.srt': 'one', 'talk.en.srt': 'two' }, 'TWO'],
  ])(
    'without a language in their name are the spoken words, unless others are: %j',
    async (files, translated) => {
      const vloc = await startStaging();
      for (const [name, text] of Object.entries(files)) await writeFile(vloc.path(name), srt(text));
      const { code, stderr } = await vloc.run([...GO_ON, '--from', 'en']);
      expect(code, stderr).toBe(0);
      expect(await vloc.jobs()).toEqual([0, 1, 0, 0]);
      expect(vloc.read('talk.es.srt')).toContain(translated);
    },
  );

  it('stay as they are beside recognized words whose language nobody knows', async () => {
    const vloc = await startStaging({}, (run) => ({
      ...run,
      async subtitle_recognition(task, work) {
        const { subtitle } = await run.subtitle_recognition(task, work);
        return { subtitle: { ...subtitle, language: 'und' } };
      },
    }));
    await writeFile(vloc.path('talk.srt'), 'mine');
    for (const before of [null, 'downloaded']) {
      const words = [...LOCALIZE, '--stop-after', 'recognize'];
      const { code, stdout, stderr } = await vloc.run([...words, '-o', 'json']);
      expect([code, stderr.includes('Nothing to do')], stderr).toEqual([0, before !== null]);
      expect(JSON.parse(stdout).data[0].files[0].path).toBe(vloc.path('talk.und.srt'));
    }
    expect(vloc.read('talk.srt')).toBe('mine');
    expect((await vloc.jobs())[0]).toBe(1);
  });

  it('must be chosen if several could be in the spoken language', async () => {
    const vloc = await startStaging();
    await writeFile(vloc.path('talk.en.srt'), srt('one'));
    await writeFile(vloc.path('talk.fr.srt'), srt('un'));
    const { code, stderr } = await vloc.run(GO_ON);
    expect(code).toBe(2);
    expect(stderr).toContain('--from');
    const named = await vloc.run([...GO_ON, '--from', 'fr']);
    expect(named.code, named.stderr).toBe(0);
    expect(vloc.read('talk.es.srt')).toContain('UN');
  });

  it('with more lines than the service accepts are refused with what parts would cost', async () => {
    const vloc = await startStaging();
    await writeFile(vloc.path('talk.en.srt'), srt(...MANY));
    const words = [...LOCALIZE, '--from-subtitles'];
    const { code, stderr } = await vloc.run(words, { limits: LIMITS });
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(`talk.en.srt: it has ${MANY.length} lines`);
    expect(stderr).toMatch(/--split would cut it into 2 parts/);
    expect((await vloc.run([...words, '--dry-run'], { limits: LIMITS })).stderr).toBe(stderr);
    expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
  });

  it('that need not be spoken may have any number of lines', async () => {
    const vloc = await startStaging();
    await writeFile(vloc.path('mine.srt'), srt(...MANY));
    const words = [
      ...LOCALIZE,
      '--subtitle',
      'mine.srt',
      '--mode',
      'subtitles_only',
      '--dry-run',
      '-o',
      'json',
    ];
    const { code, stdout, stderr } = await vloc.run(words, { limits: LIMITS });
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout).jobs).toBe(0);
  });

  it('are compared with the length of the video', async () => {
    const vloc = await startStaging();
    await writeFile(vloc.path('mine.srt'), '1\n00:00:20,000 --> 00:00:22,000\nhola\n');
    await writeFile(vloc.path('words.srt'), '1\n00:00:01,000 --> 99:00:00,000\nhello\n');
    const words = [...LOCALIZE, '--dry-run'];
    const behind = await vloc.run([...words, '--subtitle', 'mine.srt']);
    expect(behind.stderr).toMatch(
      /mine\.srt:2: 00:00:20,000 cue 1: it begins at 00:00:20,000, and the video lasts 00:00:03,/,
    );
    const endless = await vloc.run([...words, '--source-subtitle', 'words.srt']);
    expect(endless.stderr).toMatch(/words\.srt:2: .*it ends at 99:00:00,000, and the video lasts 00:00:03,/);
    expect([behind.code, endless.code]).toEqual([0, 0]);
  });

  it('that need parts are shown by a dry run with the jobs and units of the parts', async () => {
    const vloc = await startStaging();
    await writeFile(vloc.path('mine.srt'), srt(...MANY));
    const words = [...LOCALIZE, '--subtitle', 'mine.srt', '--split', '--dry-run', '-o', 'json'];
    const { code, stdout, stderr } = await vloc.run(words, { limits: LIMITS });
    expect(code, stderr).toBe(0);
    const [dubbing] = JSON.parse(stdout).stages;
    expect(dubbing).toMatchObject({ kind: 'dubbing', jobs: 2 });
    expect(dubbing.items).toMatchObject([{ quantity: 2 }]);
  });
});
