import { statSync } from 'node:fs';
import { rename, utimes, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ffprobe } from '../../engines/workspace.ts';
import { digestOf, startStaging, streamsOf } from './staging.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es'];
const GO_ON = [...LOCALIZE, '--from-subtitles'];
const srt = (...texts: string[]) =>
  texts.map((text, at) => `${at + 1}\n00:00:0${at},000 --> 00:00:0${at},900\n${text}\n`).join('\n');

it('a localization stops for a review, goes on with what was edited, and pays and exports only what is due', async () => {
  const vloc = await startStaging();
  const stopped = await vloc.run([...LOCALIZE, '--stop-after', 'translate', '-o', 'plain']);
  expect(stopped.code, stopped.stderr).toBe(0);
  expect(vloc.read('talk.en.srt')).toContain('good morning');
  expect(vloc.read('talk.es.srt')).toContain('GOOD MORNING');
  expect(vloc.has('talk.es.mp4')).toBe(false);
  expect(stopped.stdout).toBe(`${vloc.path('talk.es.srt')}\n`);
  expect(stopped.stderr).toContain('Review:     talk.en.srt\n            talk.es.srt\nContinue:');
  expect(stopped.stderr).toContain('Continue:   vloc localize talk.mp4 --to es -o plain --from-subtitles');
  expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);
  // Run again it keeps what was edited.
  const edited = 'a greeting that is far too long to be read in that time';
  await vloc.edit('talk.es.srt', 'GOOD MORNING', edited);
  const again = await vloc.run([...LOCALIZE, '--stop-after', 'translate']);
  expect(again.code, again.stderr).toBe(0);
  expect(vloc.read('talk.es.srt')).toContain(edited);
  expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);

  const { code, stdout, stderr } = await vloc.run([...GO_ON, '-o', 'json']);
  expect(code, stderr).toBe(0);
  expect(await vloc.jobs()).toEqual([1, 1, 1, 1]);
  expect(vloc.dubbed).toEqual([`${edited} | AND GOOD NIGHT`]);
  expect(stderr).toContain('talk.es.srt: 1 cue changed, 1 unchanged');
  expect(stderr).toContain('  - GOOD MORNING');
  expect(stderr).toContain('  + a greeting');
  expect(stderr).toMatch(/talk\.es\.srt:2: 00:00:00,000 cue 1: reading speed is/);
  const exported = digestOf(vloc.path('talk.es.mp4'));
  expect(streamsOf(vloc.path('talk.es.mp4'))).toEqual(['h264', 'aac']);
  expect(ffprobe(vloc.path('talk.es.mp4'), 'stream_tags=language', 'a:0')).toBe('spa');
  const [result, ...others] = JSON.parse(stdout).data;
  expect(others).toEqual([]);
  expect(result).toMatchObject({
    input: 'talk.mp4',
    target_language: 'es',
    status: 'succeeded',
    // A minute heard, two lines, a block of characters, a minute separated.
    charged_credits: 5,
    files: [{ asset: 'video', path: vloc.path('talk.es.mp4'), sha256: exported }],
  });
  // It is a result, and no input of another command into the same folder.
  const plan = await vloc.run(['localize', '.', '--to', 'ca', '--dry-run', '-o', 'json']);
  expect(JSON.parse(plan.stdout).items.map(({ input }: { input: string }) => input)).toEqual(['talk.mp4']);

  // Without a change nothing runs, no request is sent, and nothing is exported again.
  const then = new Date(1_700_000_000_000);
  await utimes(vloc.path('talk.es.mp4'), then, then);
  await vloc.service.close();
  const last = await vloc.run(GO_ON);
  expect(last.code, last.stderr).toBe(0);
  expect(statSync(vloc.path('talk.es.mp4')).mtimeMs).toBe(then.getTime());
});

describe('--stop-after', () => {
  it('names ten of many subtitles to review, each on a line', async () => {
    const vloc = await startStaging();
    await vloc.addVideo('book.mp4');
    const tags = ['en', 'de', 'es', 'fr', 'it', 'pt'];
    const names = ['book', 'talk'].flatMap((stem) => tags.map((tag) => `${stem}.${tag}.srt`));
    for (const name of names) await writeFile(vloc.path(name), srt('one'));
    const words = [
      'localize',
      '.',
      '--from',
      'en',
      '--to',
      tags.slice(1).join(),
      '--stop-after',
      'translate',
    ];
    const { code, stderr } = await vloc.run([...words, '--from-subtitles']);
    expect(code, stderr).toBe(0);
    const listed = /Review: ((?: +\S+\n){10}) {12}and 2 more beside the videos\nContinue: /.exec(stderr)?.[1];
    expect(listed?.trim().split(/\s+/)).toEqual(names.slice(0, 10));
  });

  it('never overwrites a foreign file, and says how to use it before anything is sent', async () => {
    const vloc = await startStaging();
    await writeFile(vloc.path('talk.es.srt'), srt('mine'));
    const { code, stderr } = await vloc.run([...LOCALIZE, '--clobber', '--stop-after', 'translate']);
    expect(code).toBe(2);
    expect(stderr).toContain('talk.es.srt');
    expect(stderr).toContain('--from-subtitles');
    expect(vloc.read('talk.es.srt')).toBe(srt('mine'));
    expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
  });

  it('keeps paid results if the name with the detected language is in use', async () => {
    const vloc = await startStaging();
    await writeFile(vloc.path('talk.en.srt'), srt('mine'));
    const words = [...LOCALIZE, '--stop-after', 'recognize'];
    const { code, stderr } = await vloc.run(words);
    expect(code).toBe(2);
    expect(stderr).toContain('was not written by vloc');
    expect(vloc.read('talk.en.srt')).toBe(srt('mine'));
    await rename(vloc.path('talk.en.srt'), vloc.path('mine.srt'));
    expect((await vloc.run(words)).code).toBe(0);
    expect(vloc.read('talk.en.srt')).toContain('good morning');
    expect(await vloc.jobs()).toEqual([1, 0, 0, 0]);
  });
});

describe('an edited cue', () => {
  it('of the recognized text does not discard a translation that was edited, which must be valid', async () => {
    const vloc = await startStaging();
    await vloc.run([...LOCALIZE, '--stop-after', 'translate']);
    await vloc.edit('talk.es.srt', 'GOOD MORNING', 'buenos días');
    await vloc.edit('talk.en.srt', 'good morning', 'good evening');
    // Nothing is sent before an invalid one is fixed, which is named with file, row and time.
    await vloc.edit('talk.es.srt', '00:00:02,700', '00:00:00,100');
    const words = [...GO_ON, '--stop-after', 'translate'];
    const invalid = await vloc.run(words);
    expect(invalid.code).toBe(2);
    expect(invalid.stderr).toContain('talk.es.srt:6');
    expect(invalid.stderr).toContain('00:00:01,500');
    expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);
    await vloc.edit('talk.es.srt', '00:00:00,100', '00:00:02,700');
    const { code, stderr } = await vloc.run(words);
    expect(code, stderr).toBe(0);
    expect(vloc.read('talk.es.srt')).toContain('buenos días');
    expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);
  });
});

describe('a key', () => {
  it('without permission for a later stage pays nothing, and pays the stages that it has permission for', async () => {
    const changes: string[] = [];
    const vloc = await startStaging({
      onRequest: ({ method, operationId }) => {
        if (method !== 'GET') changes.push(operationId ?? method);
      },
    });
    const permissions = ['subtitle_recognition', 'subtitle_translation', 'audio_separation'] as const;
    await vloc.service.changeKey(vloc.credentials.key, { permissions });
    const { code, stderr } = await vloc.run(GO_ON);
    expect([code, changes]).toEqual([4, []]);
    expect(stderr).toContain('the key has no permission for the dub');
    const partly = await vloc.run([...LOCALIZE, '--stop-after', 'translate']);
    expect(partly.code, partly.stderr).toBe(0);
    changes.length = 0;
    expect((await vloc.run(GO_ON)).code).toBe(4);
    expect(changes).toEqual([]);
  });
});
