/** Whose a subtitle beside a video is: vloc writes over none but the one that it left there last. */
import { hash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { link, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { openBatchJournal } from '../../../src/batch/run/journal.ts';
import { type Staging, startStaging } from './staging.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es'];
const STOP = [...LOCALIZE, '--stop-after', 'translate'];
const GO_ON = [...STOP, '--from-subtitles'];

/** Leaves a second version of the translation; returns the first. */
async function translateTwice(vloc: Staging): Promise<string> {
  await vloc.run(STOP);
  const first = vloc.read('talk.es.srt');
  await vloc.edit('talk.en.srt', 'good morning', 'good evening');
  await vloc.run(STOP);
  expect(vloc.read('talk.es.srt')).toContain('GOOD EVENING');
  return first;
}

describe('an earlier version of a translation that', () => {
  it("the user has restored is the user's: it is reported and not changed", async () => {
    const vloc = await startStaging();
    const first = await translateTwice(vloc);
    await writeFile(vloc.path('talk.es.srt'), first);
    const { code, stderr } = await vloc.run(GO_ON);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('talk.es.srt: 1 cue changed, 1 unchanged');
    expect(vloc.read('talk.es.srt')).toBe(first);
    expect(await vloc.jobs()).toEqual([1, 2, 0, 0]);
  });

  it('a killed run had no time to replace is replaced by the next', async () => {
    const vloc = await startStaging();
    const first = await translateTwice(vloc);
    // The record of the new version comes before its file and another one after it: so a kill between the two leaves them.
    await writeFile(vloc.path('talk.es.srt'), first);
    await recordUnplaced(vloc, first);
    const { code, stderr } = await vloc.run(GO_ON);
    expect(code, stderr).toBe(0);
    expect(vloc.read('talk.es.srt')).toContain('GOOD EVENING');
    expect(await vloc.jobs()).toEqual([1, 2, 0, 0]);
  });
});

it('the second name of a subtitle, which a killed run left, is removed by the next', async () => {
  const vloc = await startStaging();
  await vloc.run(STOP);
  // A file gets its name by a link, and loses its first name after it.
  await link(vloc.path('talk.en.srt'), vloc.path('.talk.en.srt.part'));
  const { code, stderr } = await vloc.run(GO_ON);
  expect(code, stderr).toBe(0);
  expect(vloc.has('.talk.en.srt.part')).toBe(false);
});

it('subtitles of a video whose name is as long as a name can be are written beside it and used again', async () => {
  const vloc = await startStaging();
  const video = `${'x'.repeat(251)}.mp4`;
  await vloc.addVideo(video);
  const stopped = await vloc.run(STOP.with(1, video));
  expect(stopped.code, stopped.stderr).toBe(0);
  const names = readdirSync(vloc.folder).filter((name) => name.endsWith('.srt'));
  expect(names.map((name) => name.slice(-7))).toEqual(expect.arrayContaining(['.en.srt', '.es.srt']));
  const translated = names.find((name) => name.endsWith('.es.srt')) ?? '';
  await vloc.edit(translated, 'GOOD MORNING', 'buenos días');
  const ended = await vloc.run(GO_ON.with(1, video));
  expect(ended.code, ended.stderr).toBe(0);
  expect(ended.stderr).toContain('1 cue changed, 1 unchanged');
  expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);
});

/** Records that version of the translation as one that may still be there. */
async function recordUnplaced(vloc: Staging, version: string): Promise<void> {
  const journal = await openBatchJournal({ folder: vloc.folder });
  const file = { path: vloc.path('talk.es.srt'), sha256: hash('sha256', version), size: version.length };
  const record = { type: 'outputs', item: 'talk.mp4', step: 'target', language: 'es' } as const;
  await journal.add({ ...record, made: file.sha256, files: [file] }).finally(() => journal.close());
}
