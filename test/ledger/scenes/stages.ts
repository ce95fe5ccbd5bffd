/** Localizations in stages. */
import { readFileSync } from 'node:fs';
import { CLIP, type Desk, type Scene } from '../desk.ts';
import { GREETINGS, srtOf } from './plain.ts';

const LOCALIZE = 'localize clip.mp4 --from en --to es';
const STAGES = `${LOCALIZE} --from-subtitles`;

/** Lost jobs are looked for by the run, not by the plan. */
const STAGES_FOUND = 'dubbing planned 1 for 1, sent 0 for 0; audio_separation planned 1 for 1, sent 0 for 0';

const NAMED = `WEBVTT

00:00.000 --> 00:00.900
<v Anna>buenos días

00:01.000 --> 00:01.900
<v Ben>buenas noches
`;

/** With a box at its end that players skip. */
function anotherClip(): Buffer {
  return Buffer.concat([readFileSync(CLIP), Buffer.from('\0\0\0\x0cfreemore')]);
}

export const STAGED: readonly Scene[] = [
  {
    name: 'stages in two languages',
    async play({ put, run }) {
      await put('clip.mp4');
      await run('localize clip.mp4 --from en --to es,ca --from-subtitles');
    },
  },
  {
    name: 'stages that stop after each, with edits',
    async play({ put, edit, run }) {
      await put('clip.mp4');
      await run(`${LOCALIZE} --stop-after recognize`);
      await edit('clip.en.srt', 'good morning', 'Good evening.');
      await run(`${LOCALIZE} --stop-after translate`);
      await edit('clip.es.srt', '[es] Good evening.', 'Buenas tardes.');
      await run(STAGES);
    },
  },
  {
    name: 'stages after a translation was edited, and lines that are named',
    async play({ put, edit, run }) {
      const [one = '', two = '', three = ''] = ['uno', 'dos', 'tres'].map((text) => text.padEnd(500, '.'));
      await put('clip.mp4');
      await put(
        'clip.es.srt',
        srtOf(one, two).concat(
          srtOf(three)
            .replace('1\n00:00:00,000', '\n3\n00:00:01,900')
            .replace('00:00:00,900', '00:00:02,000'),
        ),
      );
      await run(STAGES);
      await edit('clip.es.srt', two, 'otra frase');
      await run(STAGES);
      await run(`${STAGES} --only 3`);
    },
    repeat: STAGES,
  },
  {
    name: 'stages after a transcript was edited, with a memory',
    async play({ put, edit, run }) {
      await put('clip.mp4');
      await put('clip.en.srt', srtOf('Good morning.', 'Good night.'));
      await run(`${STAGES} --memory memory.db`);
      await edit('clip.en.srt', 'Good night.', 'Goodbye.');
      await run(`${STAGES} --memory memory.db`);
    },
  },
  {
    name: 'stages of subtitles that the user names',
    async play({ put, run }) {
      await put('clip.mp4');
      await put('mine.srt', srtOf('buenos días', 'buenas noches'));
      await run(`${LOCALIZE} --subtitle mine.srt --subtitle-output soft`);
    },
  },
  {
    name: 'stages of a transcript that the user names, with terms',
    translate: (text) => (text.includes('night') ? 'noches' : `[es] ${text}`),
    async play({ put, run }) {
      await put('clip.mp4');
      await put('terms.csv', 'term,es,note\nAcme,=,\n');
      await put('mine.srt', srtOf('Good morning at Acme.', 'Good night at Acme.'));
      await run(`${LOCALIZE} --source-subtitle mine.srt --terms terms.csv --mask-terms`, {
        // A lost term is known only when the translation is there.
        differs: 'subtitle_translation planned 1 for 2, sent 2 for 3',
      });
    },
  },
  {
    name: 'stages that keep the sound, in another format',
    async play({ put, run }) {
      await put('clip.mp4');
      await run(`${STAGES} --subtitle-format vtt`);
      await run(`${STAGES} --subtitle-format vtt --keep-audio --keep-subtitles`);
    },
  },
  {
    name: 'stages with two speakers',
    async play({ put, run }) {
      await put('clip.mp4');
      await put('clip.es.vtt', NAMED);
      await run(`${STAGES} --voices anna=female,ben=male`);
    },
  },
  {
    name: 'stages whose finished video is lost',
    async play({ put, run, remove }) {
      await put('clip.mp4');
      await put('clip.es.srt', GREETINGS);
      await run(STAGES);
      await remove('clip.es.mp4');
      await run(STAGES);
    },
  },
  {
    name: 'stages whose options change',
    async play({ put, run }: Desk) {
      await put('clip.mp4');
      await put('clip.es.srt', GREETINGS);
      await run(STAGES);
      await run(`${STAGES} --voice-mode male`);
    },
  },
  {
    name: 'stages whose video changes',
    async play({ put, run, note }) {
      await put('clip.mp4');
      await run(STAGES);
      await put('clip.mp4', anotherClip());
      note('clip.mp4 is another video');
      await run(STAGES);
    },
    repeat: null,
  },
  {
    name: 'stages whose dub fails, and --retry-failed',
    async play({ hosted, put, run }) {
      await put('clip.mp4');
      await put('clip.es.srt', GREETINGS);
      hosted.endsAs = 'failed';
      await run(STAGES);
      hosted.endsAs = 'succeeded';
      await run(STAGES);
      await run(`${STAGES} --retry-failed`);
    },
    repeat: STAGES,
  },
  {
    name: 'stages that a limit of credits stops, and that go on with a higher one',
    async play({ put, run }) {
      const prices = 'subtitle_recognition=1,subtitle_translation=1,dubbing=1,audio_separation=1';
      await put('clip.mp4');
      await run(`${STAGES} --price ${prices} --max-credits 2`, {
        // The plan says in `limit` where the run will stop.
        differs:
          'subtitle_translation planned 1 for 0, sent 0 for 0; dubbing planned 1 for 0, sent 0 for 0; audio_separation planned 1 for 1, sent 0 for 0',
      });
      await run(`${STAGES} --price ${prices} --max-credits 9`);
    },
    repeat: STAGES,
  },
  {
    name: 'second opinions, which are paid too',
    async play({ put, run }) {
      await put('clip.mp4');
      await run(`${LOCALIZE} --from-subtitles --out out`);
      await run('batch report out --attention --back', { plan: false });
      await run('batch report out --attention --listen', { plan: false });
    },
    repeat: `${LOCALIZE} --from-subtitles --out out`,
  },
  {
    name: 'stages whose records are lost',
    async play({ put, run, remove }) {
      await put('clip.mp4');
      await put('clip.es.srt', GREETINGS);
      await run(`${STAGES} --out out`);
      await remove('out/.vloc', 'out/clip.es.mp4');
      await run(`${STAGES} --out out`, { differs: STAGES_FOUND });
    },
  },
];
