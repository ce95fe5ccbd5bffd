import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildReport, pathFrom } from '../../../src/batch/report/page-build.ts';
import type { PageJob, Sound } from '../../../src/batch/report/page-jobs.ts';
import { formatSrt, parseSrt } from '../../../src/protocol/srt.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { pageJob } from './page-job.ts';

const STEP = 20;

/** A second of silence, then a second of speech, then silence to the end of the third. */
const SOUND: Sound = {
  durationMs: 3000,
  peaks: Uint8Array.from([0, 255, 0]),
  loudness: { stepMs: STEP, decibels: new Int8Array(150).fill(-96).fill(-20, 50, 100) },
};

function setUp() {
  const root = makeFolder();
  const write = (name: string, text = 'media') => {
    mkdirSync(join(root, name, '..'), { recursive: true });
    writeFileSync(join(root, name), text);
    return join(root, name);
  };
  const build = (jobs: readonly PageJob[], embedded: readonly { start: number; end: number }[] = []) =>
    buildReport(
      {
        title: 'lessons',
        madeAt: '2026-11-21T09:00:00.000Z',
        pathOf: pathFrom(join(root, 'out')),
        commands: { afterEdit: () => null, runIn: root },
        jobs,
      },
      {
        outlineSound: async (path) => {
          if (path.includes('broken')) throw new Error('it cannot be decoded');
          return SOUND;
        },
        readSubtitleFile: async (path) => parseSrt(readFileSync(path, 'utf8')),
        readSoftSubtitles: async () =>
          embedded.map(({ start, end }, at) => ({
            index: at + 1,
            start_ms: start,
            end_ms: end,
            text: 'hola',
          })),
      },
    );
  return { root, write, build };
}
const srt = (start_ms: number, end_ms: number, text: string) =>
  formatSrt([{ index: 1, start_ms, end_ms, text }]);

describe('an entry', () => {
  it('has the cues of its newest speech, which may fit by now, and the engines of each job', async () => {
    const { build } = setUp();
    const engines = [{ step: 'speak', engine: 'openai kokoro', skipped: [] }] as const;
    const cues = [{ cues: [4], fit: 'cut', speed: 1.4, tempo: 4, cut_seconds: 0.5 }] as const;
    const whole = pageJob({ target_language: 'es', engines, cues });
    const [cut] = (await build([whole])).entries;
    expect(cut?.cuts).toBe('1 cue was too long to be spoken in its time and is cut off: 4');
    expect(cut?.detail.cues).toEqual(cues);
    expect(cut?.jobs).toMatchObject([{ engines }]);
    expect(cut?.jobs[0]).not.toHaveProperty('cues');
    const dub = pageJob({ kind: 'dubbing', target_language: 'es', engines });
    const separation = pageJob({ kind: 'audio_separation', target_language: 'es' });
    const [shortened] = (await build([whole, dub, separation])).entries;
    expect(shortened).toMatchObject({ cuts: null, detail: { cues: [] } });
  });

  it('has the input beside all its results, each with its address relative to the page', async () => {
    const { write, build } = setUp();
    const input_path = write('in/a.mp4');
    const { entries } = await build([
      pageJob({
        kind: 'audio_separation',
        input_path,
        files: [write('out/a.vocals.wav'), write('out/a.background.wav')],
      }),
      pageJob({ input_path, files: [write('out/a.es.mp4')], target_language: 'es' }),
    ]);
    const tracks = entries[0]?.detail.tracks ?? [];
    expect(tracks.map(({ role, file }) => [role, file.href])).toEqual([
      ['original', './../in/a.mp4'],
      ['localized', './a.es.mp4'],
      ['voice', './a.vocals.wav'],
      ['background', './a.background.wav'],
    ]);
    expect(entries[0]).toMatchObject({ state: 'done', duration_ms: 3000 });
  });

  it('measures the dub against the lines that it speaks, and counts those that do not fit', async () => {
    const { write, build } = setUp();
    const translation = write('out/a.es.srt', srt(900, 1500, 'hola'));
    const { entries } = await build([
      pageJob({
        kind: 'subtitle_translation',
        input_path: write('in/a.srt', srt(900, 1500, 'hello')),
        files: [translation],
        target_language: 'es',
      }),
      pageJob({
        kind: 'dubbing',
        input_path: translation,
        files: [write('out/a.es.wav')],
        target_language: 'es',
      }),
    ]);
    const { detail, misfits } = entries[0] ?? {};
    expect(detail?.subtitles.map(({ role, lines }) => [role, lines[0]?.text])).toEqual([
      ['original', 'hello'],
      ['translated', 'hola'],
    ]);
    expect(detail?.fit).toMatchObject({
      measured_on: 'dub',
      lines: [{ speech: { start_ms: 1000, end_ms: 2000 } }],
    });
    expect(misfits).toBe(1);
  });

  it('measures the cues of a sentence together, as they are spoken', async () => {
    const { write, build } = setUp();
    const cue = (index: number, start_ms: number, end_ms: number, text: string) => ({
      ...{ index, start_ms, end_ms, text },
    });
    const lines = [cue(1, 900, 1200, 'voy a comprar el'), cue(2, 1700, 2200, 'pan de mañana.')];
    const translation = write('out/a.es.srt', formatSrt(lines));
    const dub = { kind: 'dubbing', input_path: translation, target_language: 'es' } as const;
    const { entries } = await build([pageJob({ ...dub, files: [write('out/a.es.wav')] })]);
    expect(entries[0]?.misfits).toBe(0);
    const fit = { slot_start_ms: 900, slot_end_ms: 2200, speech: { start_ms: 1000, end_ms: 2000 } };
    expect(entries[0]?.detail.fit).toMatchObject({
      lines: [
        { ...fit, index: 1 },
        { ...fit, index: 2 },
      ],
    });
  });

  it('measures the voice of a whole localization in its mix with the background', async () => {
    const { write, build } = setUp();
    const job = { input_path: write('in/a.mp4'), files: [write('out/a.es.mp4')], target_language: 'es' };
    const [mixed] = (await build([pageJob(job)], [{ start: 900, end: 1400 }])).entries;
    expect(mixed?.detail.fit).toMatchObject({
      measured_on: 'localized',
      lines: [{ speech: { start_ms: 1000, end_ms: 2000 } }],
    });
    expect(mixed?.misfits).toBe(1);
    // Without a pause around the line nothing is known of it, and it does not count as a misfit.
    const [busy] = (await build([pageJob(job)], [{ start: 0, end: 3000 }])).entries;
    expect(busy).toMatchObject({ misfits: 0, detail: { fit: { lines: [{ speech: 'unclear' }] } } });
    const alone = await build(
      [pageJob({ ...job, options: { original_audio: 'mute' } })],
      [{ start: 0, end: 3000 }],
    );
    expect(alone.entries[0]).toMatchObject({
      misfits: 0,
      detail: { fit: { lines: [{ speech: { start_ms: 1000, end_ms: 2000 } }] } },
    });
  });

  it('says how to see the subtitles of a localization that returned none', async () => {
    const { write, build } = setUp();
    const job = { input_path: write('in/a.mp4'), files: [write('out/a.es.mp4')], target_language: 'es' };
    const { entries } = await build([pageJob(job)]);
    expect(entries[0]?.detail.fit).toMatchObject({
      measured_on: null,
      reason: expect.stringContaining('--subtitle-output soft'),
    });
  });

  it('names deleted and changed files, and shows the rest', async () => {
    const { root, write, build } = setUp();
    const changed = write('out/a.es.mp4', 'longer than it was');
    const job = pageJob({ input_path: join(root, 'in/gone.mp4'), files: [changed], target_language: 'es' });
    const files = job.files.map((file) => ({ ...file, bytes: 3 }));
    const { entries } = await build([{ ...job, files }]);
    const [gone, result] = entries[0]?.detail.tracks ?? [];
    expect(gone).toMatchObject({
      sound: null,
      file: { present: false, problem: expect.stringContaining('moved') },
    });
    expect(result).toMatchObject({ file: { present: true, problem: expect.stringContaining('changed') } });
  });

  it('keeps a track that cannot be decoded', async () => {
    const { write, build } = setUp();
    const { entries } = await build([pageJob({ input_path: write('in/broken.avi') })]);
    expect(entries[0]?.detail.tracks).toMatchObject([
      { role: 'original', sound: null, file: { present: true } },
    ]);
  });
});

describe('the document', () => {
  it('counts the credits of a job once, though it belongs to two entries', async () => {
    const { write, build } = setUp();
    const input_path = write('in/a.mp4');
    const report = await build([
      pageJob({ kind: 'audio_separation', input_path, credits: { reserved: 0, charged: 0.1 } }),
      pageJob({ input_path, target_language: 'es', credits: { reserved: 0, charged: 0.2 } }),
      pageJob({ input_path, target_language: 'fr', job_id: null, credits: null }),
    ]);
    expect(report.entries).toHaveLength(2);
    expect(report.cost).toBe('0.3 credits');
  });

  it('names no folder of this machine', async () => {
    const { root, write, build } = setUp();
    const report = await build([pageJob({ input_path: write('in/a.mp4'), files: [write('out/a.mp4')] })]);
    expect(JSON.stringify(report)).not.toContain(root);
  });
});
