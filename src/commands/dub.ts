import type { Command } from './command.ts';
import { jobCommand } from './job/job-command.ts';

export const dub: Command = jobCommand('dubbing', [
  { command: 'vloc dub talk.es.srt --to es', explains: 'writes ./talk.es.wav, each cue on its time' },
  { command: 'vloc dub talk.es.srt --to es --voice-mode female', explains: 'with a female voice' },
]);
