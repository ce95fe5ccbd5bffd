/** Subtitles that were edited after a dub: only what changed is spoken and paid again, and put into the track that there is. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openBatchJournal } from '../../../src/batch/run/journal.ts';
import { formatSrt } from '../../../src/protocol/srt.ts';
import type { SubtitleLine } from '../../../src/protocol/subtitle-line.ts';
import type { Faults, ServiceOptions } from '../../../src/service/index.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';
import { differingMs, samplesOf, speakTones, type ToneVoice } from '../../support/tones.ts';
import { environmentOf, startVloc } from '../support/run-vloc.ts';

const DUB = ['dub', 'talk.srt', '--to', 'es'];

/** Twelve cues of 2,400 characters together, which are three units: one every 3 s, with a pause of 2.2 s after each. */
function sentences(): SubtitleLine[] {
  return Array.from({ length: 12 }, (_, at) => ({
    ...{ index: at + 1, start_ms: at * 3000, end_ms: at * 3000 + 800 },
    text: `line ${at + 1} of the talk`.padEnd(200, '.'),
  }));
}

async function startDub(options: Partial<ServiceOptions> = {}) {
  const voice: ToneVoice = { pitch: 110, level: 0.3 };
  /** The texts of each dub. */
  const spoken: string[][] = [];
  const small = createSmallEngines();
  const dubbing: typeof small.run.dubbing = async ({ lines }, work) => {
    const path = join(work.folder, 'dub.wav');
    spoken.push(lines.map(({ text }) => text));
    writeFileSync(path, speakTones(lines, voice));
    return { audio: { path, contentType: 'audio/wav' }, durationSeconds: 1 };
  };
  const engines = { ...small, run: { ...small.run, dubbing } };
  const vloc = await startVloc({ engines, ...options });
  const lines = sentences();
  const path = (name: string) => join(vloc.folder, name);
  const desk = {
    ...vloc,
    ...{ voice, spoken, lines, path },
    /** Writes the subtitles as somebody with an editor does. */
    save: () => writeFileSync(path('talk.srt'), formatSrt(lines)),
    /** Gives a line another text, and saves. */
    edit: (number: number, text: string) => {
      lines.splice(number - 1, 1, { ...(lines[number - 1] as SubtitleLine), text }); // the line exists
      desk.save();
    },
    track: () => samplesOf(readFileSync(path('talk.es.wav'))),
    /** Units that were charged for each job, the newest last. */
    charges: async (): Promise<number[]> => {
      const { json } = await vloc.caller.get('/v1/credit-transactions?limit=50');
      return json.data.map(({ amount }: { amount: number }) => -amount).toReversed();
    },
    dub: async (...more: string[]) => {
      const ended = await vloc.run([...DUB, ...more]);
      expect(ended.code, ended.stderr).toBe(0);
      return ended;
    },
  };
  desk.save();
  return desk;
}

/** A finished dub. */
async function dubbed(options: Partial<ServiceOptions> = {}) {
  const desk = await startDub(options);
  await desk.dub();
  return { ...desk, before: desk.track() };
}

it('an edited line is paid as one unit, as --dry-run says, and no other sample changes; so are lines that --only names', async () => {
  const desk = await dubbed();
  desk.edit(5, 'another text, which is spoken instead');
  const plan = await desk.dub('--dry-run', '-o', 'json');
  expect(JSON.parse(plan.stdout)).toMatchObject({
    ...{ jobs: 1, quantity: 1 },
    items: [{ quantity: 1, redubbed: { cues: 1, of: 12 } }],
  });
  const shown = await desk.dub('--dry-run');
  expect(shown.stdout).toContain('new, 1 of 12 cues');
  expect(shown.stderr).toContain('1 of 12 lines is dubbed again and put into the existing dub');
  await desk.dub();
  expect(desk.spoken[1]).toEqual(['another text, which is spoken instead']);
  expect(await desk.charges()).toEqual([3, 1]);
  const first = desk.track();
  const changed = differingMs(desk.before, first);
  expect(changed?.[0]).toBeGreaterThanOrEqual(12_000);
  expect(changed?.[1]).toBeLessThanOrEqual(15_000);

  // The next edit goes into this track, with a line that has not changed.
  desk.edit(9, 'and one more');
  desk.voice.level = 0.35;
  await desk.dub('--only', '2');
  expect(desk.spoken[2]?.map((text) => text.slice(0, 7))).toEqual(['line 2 ', 'and one']);
  expect(differingMs(first, desk.track())).toEqual([expect.closeTo(3000, 0), expect.closeTo(24_800, 0)]);
  expect(await desk.charges()).toEqual([3, 1, 1]);
  expect(desk.track()).toHaveLength(desk.before.length);
  const [item] = JSON.parse((await desk.run(['batch', 'status', '.', '-o', 'json'])).stdout).items;
  expect(item).toMatchObject({ state: 'done', credits: { charged: 5 } });
  const { code, stderr } = await desk.run([...DUB, '--only', '13']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('there is no line 13 among 12')]);

  // Its last job has only a piece of it.
  rmSync(desk.path('talk.es.wav'));
  const gone = await desk.run(DUB);
  expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining('--fresh')]);
  expect(existsSync(desk.path('talk.es.wav'))).toBe(false);
});

it('an edited line is dubbed with all others with --whole, where all of it costs the same, and by another service', async () => {
  const desk = await dubbed();
  const counts = () => desk.spoken.map((texts) => texts.length);
  desk.edit(5, 'another text');
  await desk.dub('--whole');
  expect(counts()).toEqual([12, 12]);
  for (const { index } of desk.lines.slice(0, 11)) desk.edit(index, `new text ${index}`.padEnd(200, '.'));
  await desk.dub();
  expect(counts()).toEqual([12, 12, 12]);
  desk.edit(5, 'a third text');
  const other = await startDub();
  const { code, stderr } = await desk.run(DUB, { env: environmentOf(other, other.folder) });
  expect(code, stderr).toBe(0);
  expect([other.spoken.map((texts) => texts.length), counts()]).toEqual([[12], [12, 12, 12]]);
});

it('an edited line is refused in another voice, which --whole accepts; the track stays, and the same command pays nothing', async () => {
  const desk = await dubbed();
  desk.edit(5, 'another text');
  desk.voice.pitch = 200;
  for (const _ of ['first', 'again']) {
    const refused = await desk.run(DUB);
    expect(refused.code, refused.stderr).toBe(5);
    expect(refused.stderr).toContain('its pitch is 200 Hz instead of 110 Hz');
    expect(refused.stderr).toContain('--whole (3 started thousands of characters)');
    expect(desk.track()).toEqual(desk.before);
  }
  expect(await desk.charges()).toEqual([3, 1]);
  await desk.dub('--whole');
  expect(await desk.charges()).toEqual([3, 1, 3]);
});

it('--only is refused if it cannot be followed', async () => {
  const desk = await startDub();
  const refusals = [
    [['--only', '2'], 'there is no earlier dub of it'],
    [['--only', '2-x'], 'invalid --only "2-x"'],
    [['--only', '2', '--to', 'es,fr'], 'lines of one dub again'],
    [['--only', '2', '--whole'], 'cannot be combined'],
  ] as const;
  for (const [words, why] of refusals) {
    const { code, stderr } = await desk.run([...DUB, ...words]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
  }
  expect(desk.spoken).toEqual([]);
});

it('a run that dubs an edited line is killed after the track got its name, and the next run recognizes it', async () => {
  const state = { folder: '', isSaving: false };
  const faults: Faults = {
    async before({ target }) {
      if (state.isSaving && target.includes('/assets/')) {
        state.isSaving = false;
        // What a kill at this moment leaves of the records.
        await cp(join(state.folder, '.vloc'), join(state.folder, 'saved'), { recursive: true });
      }
      return null;
    },
    after: async (_request, answer) => answer,
  };
  const desk = await dubbed({ faults });
  state.folder = desk.folder;
  desk.edit(5, 'another text');
  state.isSaving = true;
  await desk.dub();
  const track = desk.track();
  const last = await openBatchJournal({ folder: desk.folder });
  const joined = last.findOutputs({ path: desk.path('talk.es.wav') });
  await last.close();
  rmSync(desk.path('.vloc'), { recursive: true });
  await cp(desk.path('saved'), desk.path('.vloc'), { recursive: true });
  rmSync(desk.path('.vloc/lock'), { force: true });
  // Written before the track gets its name.
  const journal = await openBatchJournal({ folder: desk.folder });
  for (const { item, step, made, ...file } of joined)
    await journal.add({ type: 'outputs', item, step, made, files: [file] });
  await journal.close();
  await desk.dub();
  expect(desk.track()).toEqual(track);
  expect(await desk.charges()).toEqual([3, 1]);
});
