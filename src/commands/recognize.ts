import type { Command } from '../context/command.ts';
import { jobCommand } from './job-command.ts';

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
