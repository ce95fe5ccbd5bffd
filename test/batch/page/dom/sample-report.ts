/** A batch to review: small media that are real, and one failure whose words come from outside. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ReportFacts } from '../../../../src/batch/report/page-facts.ts';
import { formatSrt } from '../../../../src/protocol/srt.ts';
import { ffmpeg } from '../../../engines/workspace.ts';
import { pageJob } from '../../report/page-job.ts';
import { readFolder } from './browser.ts';

/** A name that would run, were it not shown as text. */
export const HOSTILE = '<img src=https://a.example/x onerror=alert(1)>.mp4';

/** The same, as the name of an engine. */
export const HOSTILE_ENGINE = '<svg onload=alert(3)>';

/** Ten seconds of a moving picture with a tone: enough to seek in. */
function makeVideo(folder: string, name: string, hertz: number): string {
  const path = join(folder, name);
  const picture = ['-f', 'lavfi', '-i', 'testsrc=s=160x90:r=25:d=10'];
  const sound = ['-f', 'lavfi', '-i', `sine=f=${hertz}:d=10`];
  const coding = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac'];
  ffmpeg(...picture, ...sound, ...coding, path);
  return path;
}

function makeLines(folder: string, name: string, words: readonly string[]): string {
  const path = join(folder, name);
  const lines = words.map((text, at) => ({
    index: at,
    start_ms: at * 2000 + 1000,
    end_ms: at * 2000 + 2500,
    text,
  }));
  writeFileSync(path, formatSrt(lines));
  return path;
}

/** The facts of a report on that folder: a video whole, its parts one by one, and one that failed. */
export async function makeFacts(folder: string): Promise<ReportFacts> {
  const input_path = makeVideo(folder, 'talk #1.mp4', 440);
  const [original, translated] = [
    makeLines(folder, 'talk.en.srt', ['one', 'two', 'three']),
    makeLines(folder, 'talk.es.srt', ['uno.', 'dos.', 'tres.']),
  ];
  const dub = join(folder, 'talk.es.wav');
  ffmpeg('-f', 'lavfi', '-i', "aevalsrc='0.5*sin(2*PI*300*t)*between(t,1,3)':d=10:s=16000", dub);
  const language = { target_language: 'es' };
  const engines = [{ step: 'speak', engine: 'espeak-ng', skipped: [HOSTILE_ENGINE] }] as const;
  const cues = [
    { cues: [1], fit: 'speed', speed: 1.25, tempo: 1, cut_seconds: 0 },
    { cues: [2], fit: 'cut', speed: 1.4, tempo: 4, cut_seconds: 0.5 },
  ] as const;
  return readFolder(folder, [
    pageJob({ ...language, input_path, files: [makeVideo(folder, 'talk.es.mp4', 880)] }),
    pageJob({ kind: 'subtitle_recognition', input_path, files: [original] }),
    pageJob({ kind: 'subtitle_translation', ...language, input_path: original, files: [translated] }),
    pageJob({ kind: 'dubbing', ...language, input_path: translated, files: [dub], engines, cues }),
    pageJob({
      input_name: HOSTILE,
      state: 'failed',
      request_ids: ['req_42'],
      failure: {
        code: 'ENGINE_ERROR',
        message: '</script><script>alert(2)</script>',
        advice: 'Try later.',
        retryable: true,
      },
    }),
  ]);
}
