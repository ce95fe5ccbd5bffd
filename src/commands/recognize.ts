import type { Command } from './command.ts';
import { jobCommand } from './job/job-command.ts';

export const recognize: Command = jobCommand('subtitle_recognition', [
  { command: 'vloc recognize talk.mp4 --from en', explains: 'writes ./talk.en.srt' },
]);
