/** Runs after runs: what was changed, lost, refused, stopped, failed or left in between. */

import { startWatch } from '../../commands/support/start-watch.ts';
import { until } from '../../service/harness/scene.ts';
import type { Desk, Scene } from '../desk.ts';
import { GREETINGS, srtOf } from './plain.ts';

const TRANSLATE = 'translate lines.srt --from en --to es';
const LOCALIZE = 'localize clip.mp4 --to es';

/** Three files of one, two and three lines, none of which is known from another. */
async function putThree({ put }: Desk): Promise<void> {
  await put('in/a.srt', srtOf('One.'));
  await put('in/b.srt', srtOf('Two.', 'Three.'));
  await put('in/c.srt', srtOf('Four.', 'Five.', 'Six.'));
}

/** Lost jobs are looked for by the run, not by the plan. */
const FOUND = 'auto_localization planned 1 for 1, sent 0 for 0';

const FOLDER = 'translate in --from en --to es --out out';

/** The next job fails, and those that are asked for after it succeed. @param count how many come before that one */
function failOne({ hosted }: Desk, kind: string, count = 0): void {
  let left = count + 2;
  if (count === 0) hosted.endsAs = 'failed';
  hosted.meet = async (at, method, url) => {
    if (at !== 'answer' || method !== 'POST' || url !== `/v1/${kind}`) return;
    left -= 1;
    hosted.endsAs = left === 1 ? 'failed' : 'succeeded';
  };
}

export const AGAIN: readonly Scene[] = [
  {
    name: 'a file of the user at the place of a result, and --clobber',
    async play({ put, give, run }) {
      await put('lines.srt', GREETINGS);
      await put('lines.es.srt', srtOf('mine', 'too'));
      await run(TRANSLATE);
      await run(`${TRANSLATE} --skip-existing`);
      give('lines.es.srt');
      await run(`${TRANSLATE} --clobber`);
    },
    repeat: TRANSLATE,
  },
  {
    name: '--fresh pays again',
    async play({ put, run }) {
      await put('clip.mp4');
      await run(LOCALIZE);
      await run(`${LOCALIZE} --fresh`);
      await run(`${LOCALIZE} --fresh --clobber`);
    },
    repeat: LOCALIZE,
  },
  {
    name: 'a job that fails, and --retry-failed',
    async play({ hosted, put, run }) {
      await put('clip.mp4');
      hosted.endsAs = 'failed';
      await run(LOCALIZE);
      hosted.endsAs = 'succeeded';
      await run(LOCALIZE);
      await run(`${LOCALIZE} --retry-failed`);
    },
    repeat: LOCALIZE,
  },
  {
    name: 'one of three that fails, and batch retry',
    async play(desk) {
      await putThree(desk);
      failOne(desk, 'subtitle-translations');
      await desk.run(`${FOLDER} --jobs 1`);
      await desk.run('batch retry out', { plan: false });
      await desk.run('batch retry out --all', { plan: false });
    },
    repeat: FOLDER,
  },
  {
    name: 'a result that is lost counts as done with --skip-done, and is fetched again without',
    async play({ put, run, remove }) {
      await put('clip.mp4');
      await run(LOCALIZE);
      await remove('clip.es.mp4');
      await run(`${LOCALIZE} --skip-done`);
      await run(LOCALIZE);
    },
  },
  {
    name: 'a result that is lost and has expired',
    async play({ put, run, remove, pass }) {
      await put('clip.mp4');
      await run(LOCALIZE);
      await remove('clip.es.mp4');
      pass(48);
      await run(LOCALIZE);
      await run(`${LOCALIZE} --fresh`);
    },
    repeat: LOCALIZE,
  },
  {
    name: 'a job whose result expired before it was fetched',
    async play({ put, run, pass }) {
      await put('clip.mp4');
      await run(`${LOCALIZE} --detach`);
      await run('jobs list', { plan: false });
      pass(48);
      await run(LOCALIZE);
    },
  },
  {
    name: 'an input that changes after its result was fetched',
    async play({ put, edit, run }) {
      await put('lines.srt', GREETINGS);
      await run(TRANSLATE);
      await edit('lines.srt', 'good night', 'goodbye');
      await run(TRANSLATE);
    },
  },
  {
    name: 'an input that changes after its result was edited',
    async play({ put, edit, run }) {
      await put('lines.srt', GREETINGS);
      await run(TRANSLATE);
      await edit('lines.es.srt', '[es] good night', 'buenas noches');
      await run(TRANSLATE);
      await edit('lines.srt', 'good night', 'goodbye');
      await run(TRANSLATE);
    },
    repeat: TRANSLATE,
  },
  {
    name: 'an input that changes before its result is fetched',
    async play({ put, edit, run }) {
      await put('lines.srt', GREETINGS);
      await run(`${TRANSLATE} --detach`);
      await edit('lines.srt', 'good night', 'goodbye');
      await run(TRANSLATE);
      await run(`${TRANSLATE} --fresh`);
    },
    repeat: TRANSLATE,
  },
  {
    name: 'options that change after the result was fetched',
    async play({ put, run }) {
      await put('clip.mp4');
      await run(LOCALIZE);
      await run(`${LOCALIZE} --voice-mode male`);
      await run(`${LOCALIZE} --voice-mode male --clobber`);
    },
    repeat: `${LOCALIZE} --voice-mode male`,
  },
  {
    name: 'options that change before the result is fetched',
    async play({ put, run }) {
      await put('clip.mp4');
      await run(`${LOCALIZE} --detach`);
      await run(`${LOCALIZE} --voice-mode male`);
      await run(LOCALIZE);
    },
  },
  {
    name: 'an input that is renamed',
    async play({ put, move, run }) {
      await put('clip.mp4');
      await run(LOCALIZE);
      await move('clip.mp4', 'other.mp4');
      await run('localize other.mp4 --to es');
    },
  },
  {
    name: 'a run that does not wait, then one that does',
    async play({ put, run }) {
      await put('clip.mp4');
      await run('localize clip.mp4 --to es,ca --detach');
      await run('localize clip.mp4 --to es,ca');
    },
  },
  {
    name: 'a limit of credits that stops a run, which goes on with a higher one',
    async play(desk) {
      await putThree(desk);
      const limited = `${FOLDER} --jobs 1 --price subtitle_translation=1 --max-credits`;
      await desk.run(`${limited} 3`, {
        // The plan says in `limit` where the run will stop.
        differs: 'subtitle_translation planned 3 for 6, sent 2 for 3',
      });
      await desk.run(`${limited} 6`);
    },
    repeat: FOLDER,
  },
  {
    name: 'two shards',
    async play({ put, run }) {
      // By the hash of their names two belong to the second, and one to the first.
      for (const name of ['a', 'b', 'g']) await put(`in/${name}.srt`, srtOf(`${name}.`));
      await run(`${FOLDER} --shard 1/2`);
      await run(`${FOLDER} --shard 2/2`);
    },
  },
  {
    name: 'a folder that is watched',
    async play({ put, run, folder, env, hosted }) {
      await put('in/a.srt', srtOf('One.'));
      await run(`${FOLDER} --watch`, {
        plan: false,
        async by(words) {
          const watch = await startWatch({ folder, env: { ...env } }, words);
          watch.goOn();
          const isDone = (count: number) => () =>
            [...hosted.jobs.values()].filter(({ downloads }) => downloads.subtitle === 1).length === count;
          await until(isDone(1), Boolean);
          await put('in/b.srt', srtOf('Two.'));
          await until(isDone(2), Boolean);
          await until(watch.stderr, (told) => told.includes('out/b.es.srt'));
          return watch.stop();
        },
      });
    },
    repeat: FOLDER,
  },
  {
    name: 'a part that fails before the next is sent',
    async play(desk) {
      await desk.put('lines.srt', srtOf('one', 'two', 'three', 'four', 'five', 'six'));
      failOne(desk, 'subtitle-translations');
      // What was not sent when the first failed was withdrawn.
      await desk.run(`${TRANSLATE} --split --jobs 1`, {
        differs: 'subtitle_translation planned 2 for 6, sent 1 for 3',
      });
      await desk.run(`${TRANSLATE} --split --jobs 1`);
      await desk.run(`${TRANSLATE} --split --jobs 1 --retry-failed`);
    },
    repeat: `${TRANSLATE} --split`,
  },
  {
    name: 'a part that fails beside the other',
    async play(desk) {
      await desk.put('lines.srt', srtOf('one', 'two', 'three', 'four', 'five', 'six'));
      failOne(desk, 'subtitle-translations');
      await desk.run(`${TRANSLATE} --split`);
      await desk.run(`${TRANSLATE} --split --retry-failed`);
    },
    repeat: `${TRANSLATE} --split`,
  },
  {
    name: 'a job that is fetched by its id',
    async play({ put, run, hosted }) {
      await put('clip.mp4');
      await run(`${LOCALIZE} --detach`);
      const [job] = hosted.jobs.values();
      await run(`jobs wait ${job?.id}`, { plan: false });
    },
    repeat: LOCALIZE,
  },
  {
    name: 'records that are lost, with the result in its place',
    async play({ put, run, remove }) {
      await put('lines.srt', GREETINGS);
      await run(TRANSLATE);
      await remove('.vloc');
      await run(TRANSLATE);
    },
    repeat: null,
  },
  {
    name: 'all records of a job are lost that nobody waited for',
    async play({ put, run, remove }) {
      await put('clip.mp4');
      await run(`${LOCALIZE} --out out --detach`);
      await remove('out/.vloc', 'state');
      await run(`${LOCALIZE} --out out`, { differs: FOUND });
    },
  },
];
