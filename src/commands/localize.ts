import type { Command } from '../context/command.ts';
import { asksForStages, STAGE_OPTIONS } from '../stages/stage-options.ts';
import { jobCommand } from './job-command.ts';

export const localize: Command = jobCommand(
  'auto_localization',
  [
    {
      command: 'vloc localize talk.mp4 --to es',
      explains: 'a Spanish voice over the original background: ./talk.es.mp4',
    },
    {
      command: 'vloc localize talk.mp4 --to es,ca --subtitle-output soft --out out',
      explains: 'two languages from one upload, each with subtitles that can be switched off',
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
      command: 'vloc localize talk.mp4 --to es --detach --output id',
      explains: 'print the id and return; `vloc jobs wait ID` fetches the result',
    },
    {
      command: 'vloc localize talk.mp4 --to es --stop-after translate',
      explains: 'leaves ./talk.en.srt and ./talk.es.srt for review; edit them, then run the printed command',
    },
    {
      command: 'vloc localize talk.mp4 --to es --from-subtitles',
      explains: 'continues from the subtitles beside the video; unchanged parts are not made or paid again',
    },
    {
      command: 'vloc localize talk.mp4 --to es --subtitle talk.es.srt',
      explains: 'dubs your own translation',
    },
  ],
  {
    notes: [
      'A result holds the picture of the original, the new voice on its times, and the original background sound.',
      'With --stop-after, --from-subtitles, --subtitle or --source-subtitle a localization goes in stages: recognition, ' +
        'translation, dub and separation are jobs of their own, and the video is put together on this machine. Subtitles ' +
        'are left beside the video; a file that you have edited, or that is yours, is never overwritten. Edit one and ' +
        'run again: only what depends on it is remade.',
    ],
    options: STAGE_OPTIONS,
    // Loaded when they are asked for: most localizations are one job.
    async divert(context, operands, options) {
      if (!asksForStages(options)) return null;
      if (options.dryRun === true) {
        const { showStages } = await import('../stages/show-stages.ts');
        return showStages(context, operands, options);
      }
      const { runStages } = await import('../stages/run-stages.ts');
      return runStages(context, operands, options);
    },
  },
);
