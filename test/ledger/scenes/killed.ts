/** Processes that are killed, and the same command again. */
import type { Scene } from '../desk.ts';
import { srtOf, VOICES } from './plain.ts';

const LOCALIZE = 'localize clip.mp4 --to es';
const SPEAKERS = 'dub talk.vtt --to es --voices anna=female,ben=male';
const STAGES = 'localize clip.mp4 --from en --to es --from-subtitles';

export const KILLED: readonly Scene[] = [
  {
    name: 'killed when the intent is on disk and the service has done nothing',
    async play({ put, run, kill }) {
      await put('clip.mp4');
      await kill(LOCALIZE, 'arrival', 'POST /v1/auto-localizations');
      // The plan counts a job that is about to be sent as continued.
      await run(LOCALIZE, { differs: 'auto_localization planned 0 for 0, sent 1 for 1' });
    },
  },
  {
    name: 'killed when the service has the job',
    async play({ put, run, kill }) {
      await put('clip.mp4');
      await kill(LOCALIZE, 'answer', 'POST /v1/auto-localizations');
      await run(LOCALIZE);
    },
  },
  {
    name: 'stages that are killed when the service has the translation',
    async play({ put, run, kill }) {
      await put('clip.mp4');
      await kill(STAGES, 'answer', 'POST /v1/subtitle-translations');
      await run(STAGES);
    },
  },
  {
    name: 'speakers, killed when the service has the first dub',
    async play({ put, run, kill }) {
      await put('talk.vtt', VOICES);
      await kill(`${SPEAKERS} --jobs 1`, 'answer', 'POST /v1/dubbings');
      await run(SPEAKERS);
    },
  },
  {
    name: 'a dub after an edit, killed when the service has the piece',
    async play({ put, edit, run, kill }) {
      const [one = '', two = '', three = ''] = ['uno', 'dos', 'tres'].map((text) => text.padEnd(800, '.'));
      await put('talk.es.srt', srtOf(one, two, three));
      await run('dub talk.es.srt --to es');
      await edit('talk.es.srt', two, 'otra frase');
      await kill('dub talk.es.srt --to es', 'answer', 'POST /v1/dubbings');
      await run('dub talk.es.srt --to es');
    },
  },
  {
    name: 'remembered lines, killed when the service has the others',
    async play({ put, run, kill }) {
      await put('a.srt', srtOf('One.'));
      await put('b.srt', srtOf('One.', 'Two.'));
      await run('translate a.srt --from en --to es');
      await kill('translate b.srt --from en --to es', 'answer', 'POST /v1/subtitle-translations');
      await run('translate b.srt --from en --to es');
    },
  },
];
