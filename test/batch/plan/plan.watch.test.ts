import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { PlanIo, PlanRequest } from '../../../src/batch/inputs/plan-request.ts';
import { createWatchPlanner, type WatchPlan } from '../../../src/batch/plan/plan.ts';
import { createFolder, createHistory, createPlanIo, MP4, type Planning } from './support.ts';

function openPlanner(
  folder: string,
  { options = {}, io = {}, look }: Planning & Pick<PlanRequest, 'look'> = {},
) {
  const planner = createWatchPlanner(
    {
      kind: 'auto_localization',
      operands: ['in'],
      options: { to: ['ca', 'es'], out: 'out', ...options },
      body: {},
      problems: [],
      look,
    },
    createPlanIo(folder, io),
  );
  const { recorded, choices } = createHistory();
  return (...names: string[]) =>
    planner.plan(new Set(names.map((name) => join(folder, 'in', name))), recorded, choices);
}

const labelsOf = ({ planned }: WatchPlan) => planned.map(({ item }) => item.label);
const excludedOf = ({ excluded }: WatchPlan) =>
  excluded.map(({ pointer, detail }) => `${pointer}: ${detail}`);

describe('a plan for files that have settled', () => {
  it('examines no other file, not even its type', async () => {
    const folder = createFolder({ 'in/a.mp4': MP4, 'in/half.mp4': MP4, 'in/b.txt': 'x' });
    const examined: string[] = [];
    const examineVideo: PlanIo['examineVideo'] = async (path) => {
      examined.push(path);
      return { type: 'usable', seconds: 61, preparation: null };
    };
    const made = await openPlanner(folder, { io: { examineVideo } })('a.mp4');
    expect(labelsOf(made)).toEqual(['in/a.mp4 → ca', 'in/a.mp4 → es']);
    expect(made.excluded).toEqual([]);
    expect(examined).toEqual([join(folder, 'in', 'a.mp4')]);
  });

  it('omits each unusable file with its reason, and nothing else', async () => {
    const folder = createFolder({ 'in/a.mp4': MP4, 'in/b.txt': 'x', 'in/c.mp4': MP4, 'out/c.ca.mp4': 'x' });
    const made = await openPlanner(folder)('a.mp4', 'b.txt', 'c.mp4', 'gone.mp4');
    expect(labelsOf(made)).toEqual(['in/a.mp4 → ca', 'in/a.mp4 → es', 'in/c.mp4 → es']);
    expect(excludedOf(made)).toEqual([
      expect.stringMatching(/^in\/b\.txt: not a supported video/),
      expect.stringMatching(/^in\/c\.mp4 → ca: .*out\/c\.ca\.mp4 exists; --clobber replaces it/),
    ]);
  });

  it('knows earlier plans: two files do not write one result, and the same file twice changes nothing', async () => {
    const folder = createFolder({ 'in/a.mp4': MP4, 'in/a.mov': MP4 });
    const plan = openPlanner(folder, { options: { to: ['ca'] } });
    expect(labelsOf(await plan('a.mp4'))).toEqual(['in/a.mp4 → ca']);
    expect(excludedOf(await plan('a.mov'))).toEqual([expect.stringContaining('as in/a.mp4 → ca does')]);
    expect(labelsOf(await plan('a.mp4'))).toEqual(['in/a.mp4 → ca']);
  });

  it('applies --include and --exclude', async () => {
    const folder = createFolder({ 'in/a.mp4': MP4, 'in/b.mp4': MP4 });
    const made = await openPlanner(folder, { options: { exclude: ['b*'] } })('a.mp4', 'b.mp4');
    expect([labelsOf(made), made.excluded]).toEqual([['in/a.mp4 → ca', 'in/a.mp4 → es'], []]);
  });

  it('fails if the disk has no space for the results', async () => {
    const folder = createFolder({ 'in/a.mp4': MP4 });
    const plan = openPlanner(folder, { io: { freeBytes: async () => 1 } });
    await expect(plan('a.mp4')).rejects.toMatchObject({ facts: { category: 'disk', code: 'DISK_FULL' } });
  });

  it('is refused before the first file if options are wrong for every file', () => {
    const folder = createFolder({});
    for (const options of [{ to: ['no language'] }, { name: '{nothing}' }]) {
      expect(() => openPlanner(folder, { options })).toThrow(Failure);
    }
  });

  it('takes a sound file, whose result is sound', async () => {
    const folder = createFolder({ 'in/episode.mp3': 'ID3' });
    const examineVideo: PlanIo['examineVideo'] = async () => ({
      ...{ type: 'usable', seconds: 61, preparation: null, sound: 'mp3' },
    });
    const { planned, excluded } = await openPlanner(folder, { io: { examineVideo } })('episode.mp3');
    expect(planned.map(({ paths }) => paths)).toEqual(
      ['ca', 'es'].map((to) => [join(folder, `out/episode.${to}.mp3`)]),
    );
    expect(excluded).toEqual([]);
  });

  it('gives their items the subtitle style', async () => {
    const folder = createFolder({ 'in/a.mp4': MP4 });
    // A cast: it is passed on as it is.
    const look = { size: 20 } as NonNullable<PlanRequest['look']>;
    const { planned } = await openPlanner(folder, { look, options: { subtitleOutput: 'burned' } })('a.mp4');
    expect(planned.map(({ item }) => item.look)).toEqual([look, look]);
  });
});
