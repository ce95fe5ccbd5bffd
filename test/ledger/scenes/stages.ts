/** Localizations in stages. */
import type { Scene } from '../desk.ts';
import { GREETINGS } from './plain.ts';

const LOCALIZE = 'localize clip.mp4 --from en --to es';
const STAGES = `${LOCALIZE} --from-subtitles`;

/** Lost jobs are looked for by the run, not by the plan. */
const STAGES_FOUND = 'dubbing planned 1 for 1, sent 0 for 0; audio_separation planned 1 for 1, sent 0 for 0';

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
