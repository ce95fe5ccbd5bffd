/** Which subtitles of a video are there already, so that neither recognition nor translation has to give them. */
import { stat } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import type { InputProblem } from '../batch/plan/input.ts';
import { newestIntent } from '../batch/plan/item-key.ts';
import { linesStage, type VideoItem, videoStage } from '../batch/stages/items.ts';
import type { LeftFile } from '../batch/stages/records.ts';
import type { SubtitleLine } from '../protocol/subtitle-line.ts';
import { type BesideFile, besidePath, findBeside, inLanguage } from './beside.ts';
import {
  digestFile,
  type LinesExaminer,
  labelOf,
  NOT_SENT,
  readGiven,
  readStageLines,
  type SubtitleReport,
  type SubtitleUse,
} from './given-subtitle.ts';
import { isDubbed, type StagePlan, type StageSubtitle } from './stage-plan.ts';
import { problemsOf } from './tell-edits.ts';

export type Known = Pick<StagePlan, 'choices' | 'delivery' | 'recorded' | 'stages'>;

/** A file beside the video, and whose it is. */
interface Found extends BesideFile {
  /** A folder, a pipe or a socket: it is not opened, since that could wait forever. */
  readonly isSpecial: boolean;
  /** Null for one that vloc has not written. */
  readonly left: LeftFile | null;
  readonly isEdited: boolean;
}

/** Null where there are none to compare with. */
type Lines = readonly SubtitleLine[] | null;

interface FinderIo {
  readonly cwd: string;
  /** For the first paid call that takes them: more lines than it takes are refused in its units. */
  readonly examineLines: (kind: 'subtitle_translation' | 'dubbing') => LinesExaminer;
}

export interface Finder {
  /** The translation into the language of the item; null for one that is to be made. */
  findTarget(item: VideoItem): Promise<StageSubtitle | null>;
  /** A translation that vloc has left and nobody has edited; null where there is none. */
  findLeft(item: VideoItem): Promise<StageSubtitle | null>;
  /** What is said; null when it is to be recognized. @param targets languages that are asked for */
  findSource(item: VideoItem, targets: readonly string[]): Promise<StageSubtitle | null>;
}

/** @param problems of the files that are found are added to them  @param reports of the files that are read are added to them */
export function createFinder(
  known: Known,
  io: FinderIo,
  problems: InputProblem[],
  reports: SubtitleReport[],
): Finder {
  const { choices, delivery, recorded, stages } = known;
  const { fromSubtitles, format } = choices;
  const label = (path: string) => labelOf(path, io.cwd);

  async function look({ input }: VideoItem): Promise<readonly Found[]> {
    const files = await findBeside(input);
    return Promise.all(
      files.map(async (file): Promise<Found> => {
        const record = stages.left.get(relative(delivery.folder, file.path));
        const left = record?.video === input.name ? record : null;
        const found = await stat(file.path).catch(() => null);
        const isSpecial = found !== null && !found.isFile();
        const digest = left === null || isSpecial ? null : await digestFile(file.path);
        const isEdited = isSpecial || (digest !== null && left?.digests.has(digest) !== true);
        return { ...file, left, isSpecial, isEdited };
      }),
    );
  }

  async function read(path: string, use: SubtitleUse) {
    const given = await readGiven(path, use, io.cwd);
    if (given === null) {
      problems.push({
        pointer: label(path),
        detail: 'this file does not exist or cannot be read; check the path',
      });
      return null;
    }
    reports.push(given.report);
    problems.push(...problemsOf(given.report));
    if (given.problem !== null) problems.push({ pointer: label(path), detail: given.problem });
    return given.subtitle;
  }

  /** Of a file beside a video. */
  async function readBeside(file: Found, readFile: () => Promise<StageSubtitle | null>) {
    if (!file.isSpecial) return readFile();
    problems.push({ pointer: label(file.path), detail: 'this is not a regular file; remove or rename it' });
    return null;
  }

  const readSource = ({ input }: VideoItem, path: string, language: string | null, before: Lines) => {
    const examineLines = io.examineLines('subtitle_translation');
    return read(path, { language, before, seconds: input.seconds, examineLines });
  };

  const readTarget = (item: VideoItem, path: string, before: Lines) => {
    const { seconds } = item.input;
    const examineLines = isDubbed({ item }) ? io.examineLines('dubbing') : NOT_SENT;
    return read(path, { language: item.targetLanguage ?? '', before, seconds, examineLines });
  };

  /** The lines that a job of an earlier run has given, as they were fetched. */
  async function linesOf(item: { readonly key: string }): Promise<Lines> {
    const outcome = newestIntent(item.key, recorded.intents)?.outcome;
    const file = outcome?.phase === 'downloaded' ? outcome.record.files[0] : undefined;
    return file === undefined ? null : readStageLines(resolve(delivery.folder, file.path));
  }

  /** What may be used of the files: edited ones, and those of others when the user says so. */
  function usable(files: readonly Found[]): readonly Found[] {
    return files.filter(({ left, isEdited }) => (left === null ? fromSubtitles : isEdited));
  }

  function refuseSeveral(item: VideoItem, files: readonly Found[], fix: string): void {
    const names = files.map(({ path }) => label(path)).join(', ');
    problems.push({
      pointer: item.input.label,
      detail: `has several subtitle files: ${names}; ${fix}`,
    });
  }

  /** A file of somebody else's is not written over, and not used without a word. */
  function refuseForeign(files: readonly Found[], path: string): void {
    if (!files.some((file) => file.path === path && file.left === null)) return;
    const detail = 'is there and was not written by vloc; --from-subtitles uses it, or move it away';
    problems.push({ pointer: label(path), detail });
  }

  return {
    async findTarget(item) {
      const language = item.targetLanguage ?? '';
      if (choices.subtitle !== null) return readTarget(item, resolve(io.cwd, choices.subtitle), null);
      const files = (await look(item)).filter((file) => file.language === language);
      const [first, ...others] = usable(files);
      if (others.length > 0) refuseSeveral(item, usable(files), 'leave one of them there');
      if (first === undefined) {
        if (choices.stopAfter !== 'recognize') refuseForeign(files, besidePath(item.input, language, format));
        return null;
      }
      const before =
        first.left === null ? null : await linesOf(linesStage('subtitle_translation', item, NONE));
      return readBeside(first, () => readTarget(item, first.path, before));
    },
    async findLeft(item) {
      const language = item.targetLanguage ?? '';
      const left = (await look(item)).find((file) => file.left !== null && file.language === language);
      return left === undefined ? null : readBeside(left, () => readTarget(item, left.path, null));
    },
    async findSource(item, targets) {
      const asked = item.fields.source_language;
      const wanted = typeof asked === 'string' && asked !== 'auto' ? asked : null;
      if (choices.sourceSubtitle !== null)
        return readSource(item, resolve(io.cwd, choices.sourceSubtitle), wanted, null);
      const files = await look(item);
      const own = files.filter(({ left }) => left?.role === 'source').at(-1);
      if (own !== undefined) {
        if (!own.isEdited) return null;
        const language = own.left?.language === 'und' ? wanted : own.language;
        const before = await linesOf(videoStage('subtitle_recognition', item));
        return readBeside(own, () => readSource(item, own.path, language, before));
      }
      const foreign = files.filter(({ left }) => left === null);
      const candidates =
        wanted === null
          ? foreign.filter(({ language }) => !targets.includes(language))
          : inLanguage(foreign, wanted);
      if (!fromSubtitles) {
        if (wanted !== null) refuseForeign(foreign, besidePath(item.input, wanted, format));
        return null;
      }
      const [first, ...others] = candidates;
      if (others.length > 0)
        refuseSeveral(
          item,
          candidates,
          'say with --from in which language the video is, or give --source-subtitle',
        );
      if (first === undefined) return null;
      return readBeside(first, () => readSource(item, first.path, first.language, null));
    },
  };
}

/** What the key of an item is made of does not include its lines. */
const NONE = { label: '', lines: [], parts: null };
