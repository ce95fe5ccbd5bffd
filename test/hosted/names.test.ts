/** Names of results and the safety of inputs, where a service repeats nothing of what was asked. */
import { hash } from 'node:crypto';
import { link, mkdir, readdir, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorOf } from '../support/run-main.ts';
import { type HostedScene, openMinimal } from './run-hosted.ts';

const digest = async (path: string) => hash('sha256', await readFile(path));

/** Runs the scene and holds the inputs against what they were before. */
async function keepingInputs<T>({ folder }: HostedScene, work: () => Promise<T>): Promise<T> {
  const inputs = (await readdir(folder)).filter((name) => /^talk\.(mp4|srt)$/.test(name));
  const before = await Promise.all(inputs.map((name) => digest(join(folder, name))));
  const result = await work();
  expect(await Promise.all(inputs.map((name) => digest(join(folder, name))))).toEqual(before);
  return result;
}

const idOf = (stdout: string) => stdout.trim().split('\n');
const videos = async (folder: string) =>
  (await readdir(folder)).filter((name) => name.endsWith('.mp4')).sort();

describe('a run that was interrupted and is resumed', () => {
  test('with --clobber --detach writes its result beside the input', async () => {
    const scene = await openMinimal();
    const { run, folder, hosted } = scene;
    await keepingInputs(scene, async () => {
      const words = ['localize', 'talk.mp4', '--to', 'es', '--clobber', '--detach'];
      expect((await run(words)).code).toBe(0);
      for (let times = 0; times < 3; times += 1) expect((await run(words)).code).toBe(0);
    });
    expect(await videos(folder)).toEqual(['talk.es.mp4', 'talk.mp4']);
    expect(hosted.jobs.size).toBe(1);
  });

  test('keeps the name of a language that only the first answer contained', async () => {
    const { run, folder, hosted } = await openMinimal();
    hosted.change = (body) =>
      typeof body.result === 'object' ? { ...body, result: { ...body.result, language: 'en' } } : body;
    await mkdir(join(folder, 'results', 'talk.en.srt'), { recursive: true });
    const words = ['recognize', 'talk.mp4', '--out', 'results'];
    // The name is taken, so the run ends between the end of the job and the result.
    expect((await run(words)).code).not.toBe(0);
    hosted.change = (body) => body;
    await rename(join(folder, 'results', 'talk.en.srt'), join(folder, 'aside'));
    expect((await run(words)).code).toBe(0);
    expect((await readdir(join(folder, 'results'))).filter((name) => name.endsWith('.srt'))).toEqual([
      'talk.en.srt',
    ]);
    expect(hosted.jobs.size).toBe(1);
  });
});

describe('vloc jobs', () => {
  test.each(['wait', 'download'])(
    '%s uses the name and the folder of the run for the result',
    async (verb) => {
      const scene = await openMinimal();
      const { run, folder } = scene;
      await mkdir(join(folder, 'in', 'week1'), { recursive: true });
      await writeFile(join(folder, 'in', 'week1', 'talk.mp4'), await readFile(join(folder, 'talk.mp4')));
      await mkdir(join(folder, 'elsewhere'));
      const detached = await run(['localize', 'in', '--to', 'es,ca', '--out', 'out', '--detach', '-o', 'id']);
      const ids = idOf(detached.stdout);
      expect(ids).toHaveLength(2);
      if (verb === 'download') for (let looks = 0; looks < 3; looks += 1) await run(['jobs', 'get', ...ids]);
      const ended = await run(['jobs', verb, ...ids, '-o', 'plain'], { cwd: join(folder, 'elsewhere') });
      expect([ended.code, ended.stderr]).toEqual([0, ended.stderr]);
      expect(await videos(join(folder, 'out', 'week1'))).toEqual(['talk.ca.mp4', 'talk.es.mp4']);
      expect(await readdir(join(folder, 'elsewhere'))).toEqual([]);
      // The run itself takes them for its own.
      const again = await run(['localize', 'in', '--to', 'es,ca', '--out', 'out']);
      expect([again.code, again.stderr]).toEqual([0, again.stderr]);
      expect(await videos(join(folder, 'out', 'week1'))).toEqual(['talk.ca.mp4', 'talk.es.mp4']);
    },
  );

  test('wait writes it to the path of --out and --name', async () => {
    const { run, folder } = await openMinimal();
    const { stdout } = await run(['localize', 'talk.mp4', '--to', 'es', '--detach', '-o', 'id']);
    const words = ['jobs', 'wait', ...idOf(stdout), '--out', 'mine', '--name', '{lang}-{stem}{ext}'];
    expect((await run(words)).code).toBe(0);
    expect(await readdir(join(folder, 'mine'))).toEqual(['es-talk.mp4']);
  });

  test('wait writes subtitles in the format of their run', async () => {
    const { run, folder } = await openMinimal();
    const words = ['translate', 'talk.srt', '--to', 'es', '--subtitle-format', 'vtt', '--detach', '-o', 'id'];
    expect((await run(['jobs', 'wait', ...idOf((await run(words)).stdout)])).code).toBe(0);
    expect(await readFile(join(folder, 'talk.es.vtt'), 'utf8')).toMatch(/^WEBVTT/);
  });

  test('wait names the newest of two jobs like its run, and the previous one by its id', async () => {
    const { run, folder } = await openMinimal();
    const words = ['localize', 'talk.mp4', '--to', 'es', '--detach', '-o', 'id'];
    const ids = [...idOf((await run(words)).stdout), ...idOf((await run([...words, '--fresh'])).stdout)];
    expect((await run(['jobs', 'wait', ...ids])).code).toBe(0);
    expect(await videos(folder)).toEqual(['talk.es.mp4', 'talk.mp4', `${ids[0]}.es.mp4`].sort());
  });

  test('wait names jobs of another machine as their batch would, by ids in one operand of two lines, as a shell makes of a quoted variable', async () => {
    const { run, folder } = await openMinimal();
    const { stdout } = await run(['localize', 'talk.mp4', '--to', 'es,ca', '--detach', '-o', 'id']);
    await unlink(join(folder, 'state', 'records.db'));
    const { code, stderr } = await run(['jobs', 'wait', stdout.trim()]);
    expect(code, stderr).toBe(0);
    expect(await videos(folder)).toEqual(['talk.ca.mp4', 'talk.es.mp4', 'talk.mp4']);
  });

  test('wait names only the newest of several jobs of another machine so, the others by their ids', async () => {
    const { run, folder } = await openMinimal();
    const words = ['localize', 'talk.mp4', '--to', 'es', '--detach', '-o', 'id'];
    const ids = [...idOf((await run(words)).stdout), ...idOf((await run([...words, '--fresh'])).stdout)];
    await unlink(join(folder, 'state', 'records.db'));
    const { code, stderr } = await run(['jobs', 'wait', ...ids]);
    expect(code, stderr).toBe(0);
    expect(await videos(folder)).toEqual(['talk.es.mp4', 'talk.mp4', `${ids[0]}.mp4`].sort());
  });

  test('wait names a job of another program by its id if the service tells no more, never like its input', async () => {
    const { run, folder } = await openMinimal();
    const line = 'localize talk.mp4 --to es --set client_reference=mine --detach -o id';
    const { stdout } = await run(line.split(' '));
    await unlink(join(folder, 'state', 'records.db'));
    const [id] = idOf(stdout);
    expect((await run(['jobs', 'wait', `auto_localization/${id}`])).code).toBe(0);
    expect(await videos(folder)).toEqual(['talk.mp4', `${id}.mp4`].sort());
  });
});

describe('an input is not replaced', () => {
  const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es', '--clobber', '-o', 'json'];

  test('under the name of a link to it, and nothing is paid', async () => {
    const scene = await openMinimal();
    const { run, folder, hosted } = scene;
    await link(join(folder, 'talk.mp4'), join(folder, 'hard.mp4'));
    const { code, stderr } = await keepingInputs(scene, () => run([...LOCALIZE, '--name', 'hard{ext}']));
    expect([code, hosted.jobs.size]).toEqual([2, 0]);
    expect(stderr).toContain('over');
  });

  test('if it appears under the name of the result while the job runs', async () => {
    const scene = await openMinimal();
    const { run, folder, hosted } = scene;
    const runtime = {
      sleep: async () => {
        if (hosted.jobs.size === 1) {
          await link(join(folder, 'talk.mp4'), join(folder, 'talk.es.mp4')).catch(() => undefined);
        }
      },
    };
    const { code, stderr } = await keepingInputs(scene, () => run(LOCALIZE, { pace: { runtime } }));
    expect([code, errorOf({ stderr }).code]).toEqual([2, 'TARGET_IS_INPUT']);
    expect(await digest(join(folder, 'talk.es.mp4'))).toBe(await digest(join(folder, 'talk.mp4')));
    // The paid result can be fetched to another place.
    const [id] = hosted.jobs.keys();
    expect((await run(['jobs', 'download', id ?? '', '--out', 'elsewhere'])).code).toBe(0);
    expect(await videos(join(folder, 'elsewhere'))).toEqual(['talk.es.mp4']);
  });

  test('if it is a list, or subtitles for another job', async () => {
    const scene = await openMinimal();
    const { run, folder, hosted } = scene;
    await writeFile(join(folder, 'list.mp4'), 'talk.mp4\n');
    const list = ['localize', '--files-from', 'list.mp4', '--to', 'es', '--name', 'list{ext}', '--clobber'];
    expect((await run(list)).code).toBe(2);
    expect(await readFile(join(folder, 'list.mp4'), 'utf8')).toBe('talk.mp4\n');
    expect(hosted.jobs.size).toBe(0);
  });

  test('by jobs wait and jobs download, which know it from the record', async () => {
    const scene = await openMinimal();
    const { run, folder } = scene;
    const { stdout } = await run(['localize', 'talk.mp4', '--to', 'es', '--detach', '-o', 'id']);
    const cwd = join(folder, 'elsewhere');
    await mkdir(cwd);
    for (const verb of ['wait', 'download']) {
      const words = ['jobs', verb, ...idOf(stdout), '--out', '..', '--name', '{stem}{ext}', '--clobber'];
      const { code, stderr } = await keepingInputs(scene, () => run([...words, '-o', 'json'], { cwd }));
      expect([code, errorOf({ stderr }).code]).toEqual([2, 'TARGET_IS_INPUT']);
      expect(errorOf({ stderr }).message).toContain(relative(cwd, join(folder, 'talk.mp4')).slice(3));
    }
  });
});

test('jobs list shows what each job was made from', async () => {
  const { run } = await openMinimal();
  const { stdout } = await run(['localize', 'talk.mp4', '--to', 'es', '--detach', '-o', 'id']);
  const listed = await run(['jobs', 'list', '--fields', 'id,input', '-o', 'json']);
  expect(JSON.parse(listed.stdout).data).toEqual([{ id: idOf(stdout)[0], input: 'talk.mp4' }]);
  expect((await run(['jobs', 'list', '-o', 'table'])).stdout).toContain('talk.mp4');
});
