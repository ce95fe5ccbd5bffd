import type { Command } from '../context/command.ts';
import { jobCommand } from './job-command.ts';

export const separate: Command = jobCommand('audio_separation', [
  { command: 'vloc separate talk.mp4', explains: 'writes ./talk.vocals.wav and ./talk.background.wav' },
]);
