import type { Command } from './command.ts';
import { jobCommand } from './job/job-command.ts';

export const translate: Command = jobCommand('subtitle_translation', [
  { command: 'vloc translate talk.en.srt --from en --to es', explains: 'writes ./talk.es.srt' },
  {
    command: 'cat talk.srt | vloc translate - --from en --to es,ca',
    explains: 'from stdin, into two languages',
  },
]);
