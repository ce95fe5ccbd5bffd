import type { Command } from './command.ts';
import { jobCommand } from './job/job-command.ts';

export const separate: Command = jobCommand('audio_separation', [
  { command: 'vloc separate talk.mp4', explains: 'writes ./talk.vocals.wav and ./talk.background.wav' },
]);
