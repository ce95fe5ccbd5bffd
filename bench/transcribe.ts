/** Sends the sound of a task to a server for recognition and prints the words. Its own process: its memory is measured. */
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { createBackend } from '../src/engines/create.ts';
import { createPrograms } from '../src/media/programs/programs.ts';

const { url, voice, segments, folder } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const recognizer = await createBackend(
  'recognize',
  { type: 'openai', url, model: 'm' },
  {
    programs: createPrograms(process.env.PATH ?? ''),
    env: process.env,
    warn: () => {},
    sleep: (ms, signal) => setTimeout(ms, undefined, { signal }),
  },
);
const work = { signal: new AbortController().signal, folder, report: () => {} };
const { words } = await recognizer.recognize({ voice, segments, language: 'en' }, work);
await recognizer.close();
process.stdout.write(JSON.stringify(words));
