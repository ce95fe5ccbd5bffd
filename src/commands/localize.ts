import type { Command } from './command.ts';
import { jobCommand } from './job/job-command.ts';

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
      command: 'vloc localize talk.mp4 --to es --detach --output id',
      explains: 'print the id and return; `vloc jobs wait ID` fetches the result',
    },
  ],
  [
    'A result holds the picture of the original, the new voice on its times, and the original background sound.',
  ],
);
