/** Subtitles that were edited after a dub: only what changed is spoken and paid again, and put into the track that there is. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openBatchJournal } from '../../../src/batch/run/journal.ts';
import { formatSrt } from '../../../src/protocol/srt.ts';
import type { SubtitleLine } from '../../../src/protocol/subtitle-line.ts';
import type { Faults, ServiceOptions } from '../../../src/service/index.ts';
import { testsOwnWork } from '../../service/harness/profiles.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { runMain, variablesIn } from '../../support/run-main.ts';
import { differingMs, samplesOf, speakTones, type ToneVoice } from '../../support/tones.ts';
import { createKiller, expectKilled, spawnVloc } from '../support/killed-vloc.ts';
import { environmentOf, QUICK, startVloc } from '../support/run-vloc.ts';

const DUB = ['dub', 'talk.srt', '--to', 'es'];

/** Cues of 2,400 characters together, which are three units: one every 3 s, with a pause of 2.2 s after each. */
function sentences(count: number): SubtitleLine[] {
  return Array.from({ length: count }, (_, at) => ({
    ...{ index: at + 1, start_ms: at * 3000, end_ms: at * 3000 + 800 },
    text: `line ${at + 1} of the talk`.padEnd(2400 / count, '.'),
  }));
}

async function startDub(options: Partial<ServiceOptions> = {}, count = 12) {
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
  const lines = sentences(count);
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
    /** Units that were charged for each job, the newest last; [] where the service does not say it. */
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
async function dubbed(options: Partial<ServiceOptions> = {}, count = 12) {
  const desk = await startDub(options, count);
  await desk.dub();
  return { ...desk, before: desk.track() };
}

describe('a line that was edited after the dub', () => {
  it('is paid as one unit, as --dry-run says, and no other sample changes', async () => {
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
    expect(desk.spoken.slice(1)).toEqual([['another text, which is spoken instead']]);
    expect(await desk.charges()).toEqual([3, 1]);
    const changed = differingMs(desk.before, desk.track());
    expect(changed?.[0]).toBeGreaterThanOrEqual(12_000);
    expect(changed?.[1]).toBeLessThanOrEqual(15_000);
    // The next run has nothing to do, and the next edit goes into this track.
    expect((await desk.dub()).stderr).toContain('Nothing to do');
    const second = desk.track();
    desk.edit(9, 'and one more');
    await desk.dub();
    expect(differingMs(second, desk.track())?.[0]).toBeGreaterThanOrEqual(24_000);
    expect(await desk.charges()).toEqual([3, 1, 1]);
    expect(desk.track()).toHaveLength(desk.before.length);
  });

  it('is dubbed with all others with --whole, and where all of it costs the same', async () => {
    const desk = await dubbed();
    desk.edit(5, 'another text');
    await desk.dub('--whole');
    expect(desk.spoken.map((texts) => texts.length)).toEqual([12, 12]);
    for (const { index } of desk.lines.slice(0, 11)) desk.edit(index, `new text ${index}`.padEnd(200, '.'));
    await desk.dub();
    expect(desk.spoken.map((texts) => texts.length)).toEqual([12, 12, 12]);
  });

  it('is refused in another voice and much louder, which --whole accepts; the track stays, and the same command pays nothing', async () => {
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
    expect((await desk.dub()).stderr).toContain('Nothing to do');
    desk.edit(5, 'a third text');
    desk.voice.level = 0.9;
    const loud = await desk.run(DUB);
    expect(loud.code, loud.stderr).toBe(5);
    expect(loud.stderr).toMatch(/it is (9|10) dB louder/);
  });

  it('is dubbed with all others by another service', async () => {
    const desk = await dubbed();
    desk.edit(5, 'another text');
    const other = await startDub();
    const { code, stderr } = await desk.run(DUB, { env: environmentOf(other, other.folder) });
    expect(code, stderr).toBe(0);
    expect(other.spoken.map((texts) => texts.length)).toEqual([12]);
  });
});

it('lines that were removed become silent without a job, and the costs of a report are those of all jobs', async () => {
  const desk = await dubbed();
  desk.lines.splice(9, 1);
  desk.save();
  await desk.dub();
  expect(desk.spoken).toHaveLength(1);
  const track = desk.track();
  expect(track.slice(27.02 * 8000, 29.98 * 8000).every((sample) => sample === 0)).toBe(true);
  expect(differingMs(desk.before, track)).toEqual([expect.closeTo(27_000, 0), expect.closeTo(27_800, 0)]);
  desk.edit(5, 'another text');
  await desk.dub();
  const [item] = JSON.parse((await desk.run(['batch', 'status', '.', '-o', 'json'])).stdout).items;
  const [whole = null, piece = null] = await desk.charges();
  const sum = whole === null || piece === null ? null : whole + piece;
  expect(item).toMatchObject({ state: 'done', credits: item.credits === null ? null : { charged: sum } });
});

describe('--only', () => {
  it('takes lines again that have not changed, each time it is asked', async () => {
    const desk = await dubbed();
    desk.voice.level = 0.35;
    await desk.dub('--only', '2,5-6');
    const first = desk.track();
    expect(desk.spoken[1]?.map((text) => text.slice(0, 7))).toEqual(['line 2 ', 'line 5 ', 'line 6 ']);
    expect(differingMs(desk.before, first)).toEqual([expect.closeTo(3000, 0), expect.closeTo(15_800, 0)]);
    desk.voice.level = 0.3;
    await desk.dub('--only', '2');
    expect(differingMs(first, desk.track())?.[1]).toBeCloseTo(3800, 0);
    expect(await desk.charges()).toEqual([3, 1, 1]);
    const { code, stderr } = await desk.run([...DUB, '--only', '13']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('there is no line 13 among 12')]);
  });

  it('is refused if it cannot be followed', async () => {
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
});

describe('a run that dubs an edited line', () => {
  it.each([
    ['before its job is created', (method: string) => method === 'POST', 'arrival'],
    ['before the answer to it', (method: string) => method === 'POST', 'answer'],
    ['before its piece is there', (_: string, path: string) => path.includes('/assets/'), 'arrival'],
  ] as const)('is killed %s, and the next run pays nothing twice', async (_name, isMeant, at) => {
    const killer = createKiller({ at, isMeant });
    // More lines are split by the process of the tests.
    const desk = await dubbed({ faults: killer.faults }, 4);
    desk.edit(2, 'another text');
    const env = { PATH: process.env.PATH ?? '', ...environmentOf(desk, desk.folder) };
    killer.child = spawnVloc(DUB, { folder: desk.folder, env });
    await expectKilled(killer.child);
    expect(desk.track()).toEqual(desk.before);
    const plan = JSON.parse((await desk.dub('--dry-run', '-o', 'json')).stdout);
    expect(plan).toMatchObject({ jobs: 0, continued: 1, quantity: 0 });
    await desk.dub();
    expect(await desk.charges()).toEqual([3, 1]);
    expect(differingMs(desk.before, desk.track())?.[0]).toBeCloseTo(3000, 0);
  });

  it('is killed after the track got its name, and the next run recognizes it', async () => {
    const state = { isSaving: false };
    const records: { folder: string } = { folder: '' };
    const faults: Faults = {
      before: async ({ target }) => {
        if (state.isSaving && target.includes('/assets/')) {
          state.isSaving = false;
          await cp(join(records.folder, '.vloc'), join(records.folder, 'saved'), { recursive: true });
        }
        return null;
      },
      after: async (_request, answer) => answer,
    };
    const desk = await dubbed({ faults });
    records.folder = desk.folder;
    desk.edit(5, 'another text');
    state.isSaving = true;
    await desk.dub();
    const track = desk.track();
    const last = await openBatchJournal({ folder: desk.folder });
    const joined = last.findOutputs({ path: desk.path('talk.es.wav') });
    await last.close();
    // The records as they were before the piece was fetched, and with what is written before the track gets its name.
    rmSync(desk.path('.vloc'), { recursive: true });
    await cp(desk.path('saved'), desk.path('.vloc'), { recursive: true });
    rmSync(desk.path('.vloc/lock'), { force: true });
    const journal = await openBatchJournal({ folder: desk.folder });
    for (const { item, step, made, ...file } of joined)
      await journal.add({ type: 'outputs', item, step, made, files: [file] });
    await journal.close();
    await desk.dub();
    expect(desk.track()).toEqual(track);
    expect(await desk.charges()).toEqual([3, 1]);
    expect((await desk.dub()).stderr).toContain('Nothing to do');
  });
});

it('a patched track that is gone is not replaced by its last piece', async () => {
  const desk = await dubbed();
  desk.edit(5, 'another text');
  await desk.dub();
  rmSync(desk.path('talk.es.wav'));
  const { code, stderr } = await desk.run(DUB);
  expect(code, stderr).toBe(2);
  expect(stderr).toContain('--fresh');
  expect(existsSync(desk.path('talk.es.wav'))).toBe(false);
});

it.runIf(testsOwnWork())(
  'the embedded service speaks one line anew, and its built-in voice fits',
  async () => {
    const folder = makeFolder();
    const texts = Array.from({ length: 12 }, (_, at) =>
      `This is sentence number ${at + 1}, and it is spoken. `.repeat(2),
    );
    // The third has too little time, which stays known.
    const lines = texts.map((text, at) => ({
      ...{
        index: at + 1,
        start_ms: at * 9000 + (at === 2 ? 8500 : 0),
        end_ms: at * 9000 + (at === 2 ? 8900 : 8000),
      },
      text,
    }));
    const env = { ...variablesIn(folder), PATH: rememberingPath() };
    const vloc = async (...words: string[]) => {
      const { code, stdout, stderr } = await runMain(words, { cwd: folder, pace: QUICK, env });
      expect(code, stderr).toBe(0);
      return stdout;
    };
    const dub = async () => {
      writeFileSync(join(folder, 'talk.en.srt'), formatSrt(lines));
      await vloc('dub', 'talk.en.srt', '--to', 'en', '--out', 'out');
      return samplesOf(readFileSync(join(folder, 'out', 'talk.en.wav')));
    };
    const report = async () => JSON.parse(await vloc('batch', 'status', 'out', '-o', 'json')).items[0];
    const before = await dub();
    const cutsOf = ({ provenance }: { provenance: { cues: { cues: number[]; fit: string }[] } }) =>
      provenance.cues.flatMap(({ cues, fit }) => (fit === 'cut' ? cues : []));
    expect(cutsOf(await report())).toEqual([3]);
    lines.splice(5, 1, {
      ...(lines[5] as SubtitleLine),
      text: 'Here something else is said, in fewer words.',
    }); // it exists
    const [from = 0, to = 0] = differingMs(before, await dub(), 48_000) ?? [];
    // After a pause, speech may begin up to 0.3 s early.
    expect(from).toBeGreaterThanOrEqual(44_700);
    expect(to).toBeLessThanOrEqual(54_000);
    expect(to - from).toBeGreaterThan(1000);
    const item = await report();
    expect(cutsOf(item)).toEqual([3]);
    expect(item.credits).toEqual({ reserved: 0, charged: 3 });
  },
);
