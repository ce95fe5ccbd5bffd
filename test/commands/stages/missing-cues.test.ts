/** A localization in stages whose translation comes back with a cue missing: it stops before the dub until a person adds it. */
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type Staging, startStaging } from './staging.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es', '--from', 'en', '--from-subtitles'];
/** What lacks a cue stops before a dub, here as there. */
const STOP = ['--stop-after', 'translate'];
const NAMED = '1 cue has no translation: 2 at 00:00:01,500 "and good night"';

/** Translations into Spanish lack their second cue. */
async function carelessStaging(): Promise<Staging> {
  return startStaging({}, (run) => ({
    ...run,
    async subtitle_translation(task, work) {
      const { subtitle } = await run.subtitle_translation(task, work);
      const lines = task.targetLanguage === 'es' ? subtitle.lines.slice(0, 1) : subtitle.lines;
      return { subtitle: { ...subtitle, lines } };
    },
  }));
}

describe('a localization whose translation lacks a cue', () => {
  it('stops before the dub, also after another edit, until a person has added the cue or passes the file by name', async () => {
    const vloc = await carelessStaging();
    const first = await vloc.run(LOCALIZE);
    expect(first.code, first.stderr).toBe(5);
    expect(first.stderr).toContain(NAMED);
    expect(first.stderr).toContain('Add it to talk.es.srt, then run the same command again');
    await vloc.edit('talk.es.srt', 'GOOD MORNING', 'buenos días');
    const again = await vloc.run([...LOCALIZE, '-o', 'json']);
    expect([again.code, JSON.parse(again.stdout).data]).toMatchObject([
      5,
      [
        {
          error: { code: 'CUES_MISSING' },
          provenance: { missing_cues: [{ cue: 2, text: 'and good night' }] },
        },
      ],
    ]);
    const status = await vloc.run(['batch', 'status', '.']);
    expect([status.code, status.stdout]).toEqual([3, expect.stringContaining(`CUES_MISSING: ${NAMED}`)]);
    const planned = await vloc.run([...LOCALIZE, '--dry-run']);
    expect(planned.stderr).toContain(`talk.mp4 → es: ${NAMED}; it stops there.`);
    expect(planned.stderr).toContain('New jobs: 0.');
    const named = await vloc.run([
      ...LOCALIZE.slice(0, -1),
      '--subtitle',
      'talk.es.srt',
      '--mode',
      'subtitles_only',
      '--dry-run',
    ]);
    expect(named.code, named.stderr).toBe(0);
    expect(named.stderr).not.toContain('it stops there');
    const cue = '2\n00:00:01,500 --> 00:00:02,700\ny buenas noches\n';
    await writeFile(vloc.path('talk.es.srt'), `${vloc.read('talk.es.srt').trim()}\n\n${cue}`);
    const { code, stderr } = await vloc.run([...LOCALIZE, ...STOP]);
    expect(code, stderr).toBe(0);
    expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);
  });

  it('stops also with --stop-after translate, and other languages go on', async () => {
    const vloc = await carelessStaging();
    const { code, stderr } = await vloc.run([...LOCALIZE.with(3, 'es,fr'), ...STOP]);
    expect([code, stderr]).toEqual([3, expect.stringContaining(NAMED)]);
    expect(vloc.read('talk.fr.srt')).toContain('AND GOOD NIGHT');
    const attention = await vloc.run(['batch', 'report', '.', '--attention']);
    expect(attention.stdout).toContain('talk.es.srt: 00:00:01,500 MISSING: it has no translation');
  });
});

it('a translation that a person shortened on purpose is used as it is', async () => {
  const vloc = await startStaging();
  const words = [...LOCALIZE, ...STOP];
  await vloc.run(words);
  const [first = ''] = vloc.read('talk.es.srt').split('\n\n');
  await writeFile(vloc.path('talk.es.srt'), `${first}\n`);
  const { code, stderr } = await vloc.run(words);
  expect(code, stderr).toBe(0);
  expect(vloc.read('talk.es.srt')).toBe(`${first}\n`);
});
