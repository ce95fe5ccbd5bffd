/** The commands of an editor, and of an owner of many videos and of a podcast. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../support/make-folder.ts';
import { makeMedia } from '../../support/remembered-programs.ts';
import { makeSound } from '../../support/sounds.ts';
import { CLIP, type Scene } from '../desk.ts';

const LOCALIZE = 'localize clip.mp4 --from en --to es';
const BURN = '--subtitle-output burned --subtitle-style';
const ONE = 'localize clip.mp4 --from en --one-file --to';
const EPISODE = 'localize episode.mp3 --to es --out out --loudness';
const ALONE = `${LOCALIZE} --sound-only --out out --clobber --loudness`;
const NO_PLAN = { plan: false } as const;

export const EDITORS: readonly Scene[] = [
  {
    name: 'review tables, styles and spoken names',
    async play({ put, edit, run, path }) {
      const say = (text: string) => put('terms.csv', `term,say:es\ndías,${text}\n`);
      await put('clip.mp4');
      await run(`${LOCALIZE} --stop-after translate`);
      await run('subtitles export . --to es --out review.csv', NO_PLAN);
      await edit('review.csv', '[es] good morning', 'los días');
      await run('subtitles import review.csv', NO_PLAN);
      await say('dias');
      await run(`${LOCALIZE} --from-subtitles --terms terms.csv ${BURN} box`);
      await run(`${LOCALIZE} --from-subtitles --terms terms.csv ${BURN} plain`);
      await say('dias largos');
      await run(`${LOCALIZE} --from-subtitles --terms terms.csv ${BURN} plain`);
      await run('subtitles preview clip.es.srt --video clip.mp4 --at 1', NO_PLAN);
      await run('subtitles convert clip.es.srt --to vtt', NO_PLAN);
      const titled = join(makeFolder(), 'titled.mp4');
      makeMedia('-i', CLIP, '-i', path('clip.es.srt'), '-c', 'copy', '-c:s', 'mov_text', titled);
      await put('titled.mp4', readFileSync(titled));
      await run(`localize titled.mp4 --from en --to es ${BURN} box --out whole`);
    },
  },
  {
    name: 'one file for all languages, whole and in stages',
    async play({ put, run }) {
      await put('clip.mp4');
      await run(`${ONE} es --out out`);
      await run(`${ONE} es,fr --out out`);
      await run(`${ONE} es,fr --default original --out out`);
      await run(`${ONE} es,fr --from-subtitles --out staged`);
      await run(`${ONE} es,fr --from-subtitles --default fr --provenance --out staged`);
      await run('verify staged/clip.mul.mp4', NO_PLAN);
    },
    repeat: `${ONE} es,fr --default original --out out`,
  },
  {
    name: 'sound, loudness and marks',
    async play({ put, run }) {
      await put('clip.mp4');
      await put('episode.mp3', readFileSync(makeSound(makeFolder(), 'episode.mp3', 2)));
      await run(`${EPISODE} -16`);
      await run(`${EPISODE} -23 --clobber`);
      await run(`${EPISODE} -23 --clobber --no-mark`);
      await run(`${EPISODE} -23 --clobber --mark --provenance`);
      await run(`${ALONE} -16`);
      await run(`${ALONE} -23 --mark --provenance`);
      await run('verify out/episode.es.mp3 out/clip.es.m4a', NO_PLAN);
    },
    repeat: `${EPISODE} -23 --mark --provenance`,
  },
];
