/** Joins the results of parts: subtitles, sound and video. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JoinedFile, JoinTask, PreparationWork } from '../../batch/preparation.ts';
import type { Programs } from '../../engines/programs.ts';
import type { VideoSplit } from '../../prepare/split/split-video.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';

interface JoinWork {
  readonly prepare: typeof import('../../prepare/index.ts');
  readonly programs: Programs;
  readonly task: JoinTask;
  readonly work: PreparationWork;
}

/** Start of each part and end of the last one, on the time line of the whole video. */
interface TimeLine {
  readonly offsetsMs: readonly number[];
  readonly endMs: number;
  /** The split of a video; null for subtitles. */
  readonly split: VideoSplit | null;
}

/** One file for each asset of the kind. @throws PreparationFailure */
export async function joinParts(joining: JoinWork): Promise<readonly JoinedFile[]> {
  const line = timeLineOf(joining);
  const joined: JoinedFile[] = [];
  for (const asset of assetsOf(joining.task.kind)) {
    const paths = joining.task.parts.map((files) => files[asset.label] ?? '');
    const name = `${asset.label}${asset.extension}`;
    joined.push({ label: asset.label, ...(await joinAsset(joining, line, paths, name)) });
  }
  return joined;
}

function assetsOf(kind: JobKind): (ResultPart & { type: 'asset' })[] {
  const parts: ResultPart[] = Object.values(KINDS[kind].result);
  return parts.filter((part) => part.type === 'asset');
}

/** Sample rate of the split: 48 kHz. */
const SAMPLES_PER_MS = 48;

function timeLineOf({ prepare, task, work }: JoinWork): TimeLine {
  if (task.whole.type === 'lines') return { ...task.whole, split: null };
  const split = prepare.unpackSplit(task.whole.split, work.folder);
  if (split === null) throw new TypeError('the record of the split is none');
  const last = split.parts.at(-1);
  const endMs = ((last?.firstSample ?? 0) + (last?.samples ?? 0)) / SAMPLES_PER_MS;
  return { offsetsMs: prepare.partOffsetsMs(split), endMs, split };
}

type Joined = Omit<JoinedFile, 'label'>;

function joinAsset(
  joining: JoinWork,
  line: TimeLine,
  paths: readonly string[],
  name: string,
): Promise<Joined> {
  if (name.endsWith('.srt')) return joinSubtitles(joining, line, paths, name);
  if (name.endsWith('.mp4')) return joinVideo(joining, line, paths, name);
  return joinSound(joining, line, paths, name);
}

async function joinSubtitles(
  { prepare, work }: JoinWork,
  { offsetsMs }: TimeLine,
  paths: readonly string[],
  name: string,
): Promise<Joined> {
  const parts = await Promise.all(
    paths.map(async (path) => prepare.readSubtitleFile(await readFile(path), name)),
  );
  const path = join(work.folder, name);
  await writeFile(path, prepare.writeSubtitle(prepare.joinSubtitles(parts, offsetsMs), 'srt'));
  return { path, notes: [] };
}

async function joinSound(
  { prepare, programs, work }: JoinWork,
  { offsetsMs, endMs, split }: TimeLine,
  paths: readonly string[],
  name: string,
): Promise<Joined> {
  const results = paths.map((path, place) => ({ path, startSeconds: (offsetsMs[place] ?? 0) / 1000 }));
  // Stems are as long as their part; a dub may overrun with its last sentence.
  const manner = split === null ? 'overlap' : 'cut';
  const path = await prepare.joinWavs(programs, results, { endSeconds: endMs / 1000, manner, name }, work);
  return { path, notes: [] };
}

async function joinVideo(
  { prepare, programs, work }: JoinWork,
  { split }: TimeLine,
  paths: readonly string[],
  name: string,
): Promise<Joined> {
  if (split === null) throw new TypeError('a video is joined along its split');
  const { path, changedParts } = await prepare.joinVideos(programs, paths, split, { name }, work);
  const list = changedParts.join(', ');
  const note = `the service gave part ${list} back with another number of frames than it was sent with`;
  return { path, notes: changedParts.length === 0 ? [] : [note] };
}
