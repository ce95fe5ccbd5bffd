/** Videos that are looked at on this machine, subtitles of a localization in stages, and webhooks as they arrive. */
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { eventBody, sign } from '../../client/webhooks/sign.ts';
import { LIMITS } from '../../commands/jobs/limits.ts';
import { send, untilListening } from '../../commands/support/listening.ts';
import { until } from '../../service/harness/scene.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import type { Running } from '../../support/run-main.ts';
import type { Case, Stage } from '../stage.ts';
import { SRT } from './files.ts';

/** A second of picture and sound. */
const SAMPLE = new URL('../../fixtures/version-0.1/videos/talk.mp4', import.meta.url);
const PROGRAMS = { PATH: rememberingPath() };
const STAGES = 'localize talk.mp4 --to es --from en';

async function addVideo(stage: Stage): Promise<void> {
  await stage.write('talk.mp4', await readFile(SAMPLE));
}

const staged = (line: string, when: string, files: Case['files'] = {}, more: Partial<Case> = {}): Case => ({
  line,
  when,
  files,
  env: PROGRAMS,
  before: addVideo,
  unordered: true,
  ...more,
});

const cue = (index: number, from: string, to: string, text: string) =>
  `${index}\n00:00:0${from} --> 00:00:0${to}\n${text}\n`;

const edited = (when: string, ...cues: string[]): Case =>
  staged(`${STAGES} --from-subtitles --dry-run`, when, { 'talk.es.srt': cues.join('\n') });

const SECRET = 'whsec_canary';

/** Listens, is sent something, and is stopped. */
const listening = (
  line: string,
  when: string,
  deliver: (url: string, event: ReturnType<typeof sign>, running: Running) => Promise<unknown>,
): Case => ({
  line,
  when,
  env: { ...PROGRAMS, VLOC_WEBHOOK_SECRET: SECRET },
  run: async (stage, words) => {
    const running = stage.start(words);
    const url = await untilListening(running);
    await deliver(
      url,
      sign(eventBody('dub_1'), { secret: SECRET, at: Math.floor(Date.now() / 1000) }),
      running,
    );
    running.send('SIGINT');
    return running.ended;
  },
});

export const MEDIA: readonly Case[] = [
  // Videos
  {
    line: 'recognize silent.mp4 --from en',
    env: PROGRAMS,
    before: async (stage) => {
      await addVideo(stage);
      const silent = ['-i', stage.path('talk.mp4'), '-an', '-c', 'copy', stage.path('silent.mp4')];
      execFileSync('ffmpeg', ['-v', 'error', ...silent]);
    },
  },
  {
    line: 'recognize talk.mp4 --from en',
    when: 'too large',
    env: PROGRAMS,
    before: addVideo,
    io: { limits: { ...LIMITS, bytes: 1000 } },
  },
  // Subtitles of stages
  edited(
    'much to improve',
    cue(1, '0,000', '0,100', 'too short'),
    cue(2, '0,100', '0,990', 'too fast: una frase que es mucho más larga de lo que se lee'),
    cue(3, '0,900', '9,900', 'over the one before, and too long'),
    cue(4, '0,000', '0,900', 'not in order, and with <b>markup</b>'),
    cue(5, '9,900', '9,990', '♪♪'),
  ),
  staged(`${STAGES} --from-subtitles`, 'two files for a language', {
    'talk.es.srt': SRT,
    'talk.es.vtt': 'WEBVTT\n\n00:00.000 --> 00:00.900\nhola\n',
  }),
  staged(`${STAGES} --stop-after translate`, 'a file of the user is there', { 'talk.es.srt': SRT }),
  staged(`${STAGES} --stop-after translate --name {id}{ext}`, 'an id in the name'),
  staged('localize https://example.com/talk.mp4 --to es --stop-after translate', 'an address'),
  staged(`${STAGES} --stop-after translate --dry-run`, 'what would be done'),
  // Webhooks
  listening('webhooks listen', 'what is not genuine', async (url, { body, headers }) => {
    await send(`${url}elsewhere`, body, headers);
    await send(url, body, {});
    await send(url, Buffer.concat([body, body]), headers);
    await send(url, Buffer.alloc(2_000_000, 'a'), headers);
  }),
  listening('webhooks listen --forward-to http://127.0.0.1:1/hook', 'nothing listens there', (url, event) =>
    send(url, event.body, event.headers),
  ),
  listening('webhooks listen --exec "exit 3"', 'the command fails', async (url, event, { stderr }) => {
    await send(url, event.body, event.headers);
    await until(stderr, (notes) => notes.includes('failed'));
  }),
];
