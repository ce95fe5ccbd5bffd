import type { Command } from '../context/command.ts';
import { jobCommand } from './job-command.ts';

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
    command: 'vloc translate talk.vtt --from en --to es --subtitle-format vtt',
    explains: 'WebVTT in and out: ./talk.es.vtt',
  },
]);
