import type { Command } from '../context/command.ts';
import { jobCommand } from './job-command.ts';

export const dub: Command = jobCommand('dubbing', [
  { command: 'vloc dub talk.es.srt --to es', explains: 'writes ./talk.es.wav, each cue on its time' },
  { command: 'vloc dub talk.es.srt --to es --voice-mode female', explains: 'with a female voice' },
  {
    command: 'vloc dub tra_01k9x2m4n6p8q0r2s4t6v8w0y2 --to es',
    explains: 'the result of a translation job',
  },
  { command: 'vloc dub talk.es.ass --to es', explains: 'WebVTT and ASS are read too: ./talk.es.wav' },
]);
