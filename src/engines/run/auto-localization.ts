/** Auto localization: runs all steps in order and writes one finished MP4. */
import { JobFailure } from '../../protocol/job-failure.ts';
import type { Products, Tasks, Work } from '../engine.ts';
import { type ExportAudio, exportVideo } from '../export/export.ts';
import { sameLanguage } from '../languages.ts';
import type { Programs } from '../programs.ts';
import { recognize } from '../recognize/recognize.ts';
import { separate } from '../separate/separate.ts';
import { type Dub, speak } from '../speak/speak.ts';
import { translate } from '../translate/translate.ts';
import { enterStage } from './progress.ts';

type Task = Tasks['auto_localization'];

/**
 * The end of each stage as a share of the total time, for a copied and for an encoded picture. Measured on videos of
 * half a minute to a quarter of an hour; the encoded ones in 1080p.
 */
const COPYING = { separating: 0.19, recognizing: 0.86, translating: 0.87, dubbing: 0.88 } as const;
const ENCODING = { separating: 0.05, recognizing: 0.36, translating: 0.37, dubbing: 0.38 } as const;

/** Localizes a video. @throws JobFailure, ProgramMissing, ChildFailure */
export async function localize(
  programs: Programs,
  task: Task,
  work: Work,
): Promise<Products['auto_localization']> {
  const ends = task.subtitleOutput === 'burned' || task.resolution !== 'source' ? ENCODING : COPYING;
  const separating = enterStage(work, 0, ends.separating, 'separating');
  const separation = await separate(programs, task.video, true, separating);
  const recognizing = enterStage(work, ends.separating, ends.recognizing, 'recognizing');
  const source = await recognize(programs, separation, task.sourceLanguage, recognizing);
  if (sameLanguage(source.language, task.targetLanguage)) {
    const message = `the speech is in "${source.language}" already, which is the target language; choose another`;
    throw new JobFailure('LANGUAGE_NOT_SUPPORTED', message);
  }
  const translating = enterStage(work, ends.recognizing, ends.translating, 'translating');
  const languages = { sourceLanguage: source.language, targetLanguage: task.targetLanguage };
  const subtitle = await translate(programs, { lines: source.lines, ...languages }, translating);

  const dubbing = enterStage(work, ends.translating, ends.dubbing, 'dubbing');
  const dub = task.mode === 'standard' ? await dubTrack(programs, task, subtitle.lines, dubbing) : null;
  const sound: ExportAudio =
    dub === null
      ? { type: 'original' }
      : {
          type: 'dubbed',
          dub: dub.path,
          background: separation.background,
          originalAudio: task.originalAudio,
          speechDecibels: separation.speechDecibels,
        };
  const exporting = enterStage(work, ends.dubbing, 1, 'exporting');
  const { video, resolution } = task;
  return exportVideo(
    programs,
    { video, sound, subtitle, subtitleOutput: subtitleOutput(task), resolution },
    exporting,
  );
}

function dubTrack(
  programs: Programs,
  task: Task,
  lines: Tasks['dubbing']['lines'],
  work: Work,
): Promise<Dub> {
  const { targetLanguage, voiceMode } = task;
  return speak(programs, { lines, targetLanguage, voiceMode, durationSeconds: null }, work);
}

/** Without any output the subtitles would be lost, so they become a track. */
function subtitleOutput(task: Task): Task['subtitleOutput'] {
  return task.mode === 'subtitles_only' && task.subtitleOutput === 'none' ? 'soft' : task.subtitleOutput;
}
