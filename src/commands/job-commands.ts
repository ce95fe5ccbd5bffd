/** The five job commands: what differs between them comes from the table of kinds, and the options of stages. */

import type { JobKind } from '../protocol/kind-names.ts';
import { KINDS } from '../protocol/kinds.ts';
import { type Command, defineCommand, type Example } from './context/command.ts';
import type { Context } from './context/context.ts';
import { checkFolder, type JobOptions, jobTable, STDOUT } from './jobs/job-options.ts';
import { OUTCOME_FIELDS } from './jobs/job-outcomes.ts';
import { JOB_RUN, STAGED_RUN } from './jobs/outputs.ts';
import { runJobs } from './jobs/run-jobs.ts';
import { showPlan } from './jobs/show-plan.ts';
import * as stdout from './jobs/stdout-result.ts';
import { watchJobs } from './jobs/watch-jobs.ts';
import { asksForStages, localizeTable, requireStages } from './stages/stage-options.ts';

const OPERANDS = {
  video: {
    name: 'input',
    count: 'any',
    paths: 'video',
    help: 'video files, folders, globs, https addresses or ids of ready uploads',
  },
  subtitle: {
    name: 'input',
    count: 'any',
    paths: 'subtitle',
    help: 'SRT, WebVTT or ASS files, JSON files of lines, folders, globs, https addresses, ids of ready uploads or of recognition and translation jobs, or - for stdin',
  },
} as const;

const WATCH_NOTE =
  'With --watch every operand is a folder; a file in it or below it is processed after two seconds without changes. ' +
  'Unusable files are reported and skipped; temporary failures are retried later. Ctrl-C stops it; run the same command ' +
  'again to continue.';

const TERMS_NOTE =
  'With --terms each cue is compared with its source, also in results of earlier runs; a lost term is a warning, and the exit code ' +
  'stays 0.';

const END_NOTE =
  'Exit codes: `vloc help exit-codes`. Ctrl-C stops waiting, not the jobs, and prints how to continue.';

/** Makes the command of a kind; `examples` are shown by its help. */
function jobCommand(kind: JobKind, examples: readonly Example[]): Command {
  return defineCommand({
    operands: OPERANDS[KINDS[kind].input],
    options: jobTable(kind),
    fields: () => OUTCOME_FIELDS,
    examples,
    notes: [WATCH_NOTE, ...(kind === 'subtitle_translation' ? [TERMS_NOTE] : []), END_NOTE],
    prints: JOB_RUN,
    run: async (context, operands, options) => {
      await checkFolder(options, context.io);
      return runKind(kind, context, operands, options);
    },
  });
}

/** Runs, plans or watches jobs of a kind, as the options ask for it. */
async function runKind(
  kind: JobKind,
  context: Context,
  operands: readonly string[],
  options: JobOptions,
): Promise<number> {
  if (options.out === STDOUT) return runToStdout(kind, context, operands, options);
  if (options.watch) return watchJobs(kind, context, operands, options);
  if (options.dryRun) return showPlan(kind, context, operands, options);
  return runJobs(kind, context, operands, options);
}

/** Runs the command into a folder of its own, and writes the only result to stdout. */
async function runToStdout(
  kind: JobKind,
  context: Context,
  operands: readonly string[],
  options: JobOptions,
): Promise<number> {
  stdout.checkStdout(context, options);
  stdout.checkOneFile(kind);
  const { io, content } = await stdout.keepStdin(kind, context.io, operands);
  const out = await stdout.stdoutFolder(context, kind, operands, options, content);
  // The folder belongs to vloc, so existing results in it can be replaced.
  const placed = { ...options, out, name: undefined, clobber: true, skipExisting: false };
  return stdout.writeResult({ ...context, io }, (silent) =>
    runJobs(kind, silent, operands, placed, { toStdout: true }),
  );
}

export const separate: Command = jobCommand('audio_separation', [
  { command: 'vloc separate talk.mp4', explains: 'writes ./talk.vocals.wav and ./talk.background.wav' },
]);

export const recognize: Command = jobCommand('subtitle_recognition', [
  { command: 'vloc recognize talk.mp4 --from en', explains: 'writes ./talk.en.srt' },
  {
    command: 'vloc recognize talk.mkv --from en --convert',
    explains: 'a container that the service does not accept is converted to MP4 first',
  },
  {
    command: 'vloc recognize talk.mp4 --from en --subtitle-format vtt',
    explains: 'for the web: ./talk.en.vtt',
  },
]);

export const translate: Command = jobCommand('subtitle_translation', [
  { command: 'vloc translate talk.en.srt --from en --to es', explains: 'writes ./talk.es.srt' },
  {
    command: 'cat talk.srt | vloc translate - --from en --to es,ca',
    explains: 'from stdin, into two languages',
  },
  {
    command: 'vloc translate rec_01k9x2m4n6p8q0r2s4t6v8w0y2 --from en --to es',
    explains: 'the result of a recognition job, without downloading it',
  },
  {
    command: 'vloc translate book.srt --from en --to es --split',
    explains: 'more than 10,000 lines, in parts: ./book.es.srt',
  },
  {
    command: 'vloc translate talk.vtt --from en --to es',
    explains: 'WebVTT in and out, with its styles and positions: ./talk.es.vtt',
  },
  {
    command: 'vloc translate talk.en.srt --from en --to es --terms terms.csv',
    explains: 'also lists the cues that lost a term, as TERM_LOST talk.es.srt, cue 12',
  },
]);

export const dub: Command = jobCommand('dubbing', [
  { command: 'vloc dub talk.es.srt --to es', explains: 'writes ./talk.es.wav, each cue at its time' },
  { command: 'vloc dub talk.es.srt --to es --voice-mode female', explains: 'with a female voice' },
  {
    command: 'vloc dub tra_01k9x2m4n6p8q0r2s4t6v8w0y2 --to es',
    explains: 'the result of a translation job',
  },
  { command: 'vloc dub talk.es.ass --to es', explains: 'WebVTT and ASS are read too: ./talk.es.wav' },
]);

export const localize: Command = defineCommand({
  operands: OPERANDS.video,
  options: localizeTable(),
  fields: () => OUTCOME_FIELDS,
  examples: [
    {
      command: 'vloc localize talk.mp4 --to es',
      explains: 'a Spanish voice over the original background: ./talk.es.mp4',
    },
    {
      command: 'vloc localize talk.mp4 --to es,ca --subtitle-output soft --out out',
      explains: 'two languages from one upload, each with subtitles that can be switched off',
    },
    {
      command: 'vloc localize talk.mp4 --to es --sample',
      explains: 'the first minute: ./talk.es.sample.mp4, what the whole costs, and the command for it',
    },
    {
      command: 'vloc localize lecture.mp4 --to es --split --out out',
      explains:
        'a video of more than 15 minutes: cut at silences, localized in parts, joined to ./out/lecture.es.mp4',
    },
    {
      command: 'vloc localize inbox --to es --out out --watch',
      explains: 'localizes each new video in the folder, until Ctrl-C; run it again to continue',
    },
    {
      command: 'vloc localize videos --to es --out out --shard 2/3',
      explains: 'on the second of three machines that share a folder; `vloc batch report` shows all shards',
    },
    {
      command: 'vloc localize talk.mp4 --to es --detach --output id',
      explains: 'prints the id and returns; `vloc jobs wait ID` downloads the result',
    },
    {
      command: 'vloc localize talk.mp4 --to es --stop-after translate',
      explains: 'leaves ./talk.en.srt and ./talk.es.srt for review; edit them, then run the printed command',
    },
    {
      command: 'vloc localize talk.mp4 --to es --from-subtitles',
      explains:
        'continues from the subtitles beside the video; unchanged parts are not processed or charged again',
    },
    {
      command: 'vloc localize talk.mp4 --to es --subtitle talk.es.srt',
      explains: 'dubs your own translation',
    },
  ],
  notes: [
    'A result has the original picture, the new voice at the original times, and the original background sound.',
    'With --stop-after, --from-subtitles, --subtitle, --source-subtitle, --terms or --bilingual a localization runs in stages: recognition, ' +
      'translation, dub and separation are separate jobs, and the video is assembled on this machine. Subtitles are left ' +
      'beside the video; files that you have edited or provided are never overwritten. Edit one and run again: only what ' +
      'depends on it is redone.',
    TERMS_NOTE,
    WATCH_NOTE,
    END_NOTE,
  ],
  prints: STAGED_RUN,
  run: async (context, operands, options) => {
    await checkFolder(options, context.io);
    if (!asksForStages(options)) {
      requireStages(options);
      return runKind('auto_localization', context, operands, options);
    }
    // Loaded here: most localizations are one job.
    if (options.dryRun) {
      const { showStages } = await import('./stages/show-stages.ts');
      return showStages(context, operands, options);
    }
    const { runStages } = await import('./stages/run-stages.ts');
    return runStages(context, operands, options);
  },
});
