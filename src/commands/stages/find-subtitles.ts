/** Finds existing subtitles of a video: those make recognition or translation unnecessary. */
import { readdir, stat } from 'node:fs/promises';
import { dirname, join, parse, relative, resolve } from 'node:path';
import type { InputProblem } from '../../batch/input.ts';
import { linesStage, type VideoItem, videoStage } from '../../batch/inputs/stage-items.ts';
import { isDubbed } from '../../batch/recipes/stages.ts';
import { newestAttempt } from '../../batch/records/item-key.ts';
import type { WrittenSubtitle } from '../../batch/records/stage-records.ts';
import { fitName, NO_LANGUAGE } from '../../batch/result-name.ts';
import { baseLanguage, canonicalLanguage } from '../../protocol/language-tag.ts';
import { SUBTITLE_FORMATS, type SubtitleFormat, type SubtitleLine } from '../../protocol/subtitle-line.ts';
import {
  digestFile,
  type LinesExaminer,
  labelOf,
  NOT_SENT,
  problemsOf,
  readGiven,
  readStageLines,
  type SubtitleReport,
  type SubtitleUse,
} from './given-subtitle.ts';
import type { StagePlan, StageSubtitle } from './stage-plan.ts';

export type PlanState = Pick<StagePlan, 'choices' | 'delivery' | 'recorded' | 'stages'>;

/** A subtitle file beside the video. */
interface FoundSubtitle extends BesideFile {
  /** Not a regular file, such as a folder or a pipe. It is never opened, since that could block forever. */
  readonly isSpecial: boolean;
  /** The record of vloc's own file; null for a file of the user. */
  readonly record: WrittenSubtitle | null;
  readonly isEdited: boolean;
}

/** Null if there are none to compare with. */
type EarlierLines = readonly SubtitleLine[] | null;

interface FinderIo {
  readonly cwd: string;
  /** Checks lines for the first job that gets them, whose units its messages use. */
  readonly examineLines: (kind: 'subtitle_translation' | 'dubbing') => LinesExaminer;
}

export interface SubtitleFinder {
  /** The translation into the target language of the item; null if it must be made. */
  findTarget(item: VideoItem): Promise<StageSubtitle | null>;
  /** A translation that vloc wrote and that was not edited; null if there is none. */
  findWritten(item: VideoItem): Promise<StageSubtitle | null>;
  /** The subtitles in the spoken language; null if they must be recognized. @param targets all requested target languages */
  findSource(item: VideoItem, targets: readonly string[]): Promise<StageSubtitle | null>;
}

/**
 * @param problems gets the problems of the files found
 * @param reports gets a report for each file read
 */
export function createSubtitleFinder(
  known: PlanState,
  io: FinderIo,
  problems: InputProblem[],
  reports: SubtitleReport[],
): SubtitleFinder {
  const { choices, delivery, recorded, stages } = known;
  const { fromSubtitles, format } = choices;
  const label = (path: string) => labelOf(path, io.cwd);

  async function look({ input }: VideoItem): Promise<readonly FoundSubtitle[]> {
    const own = await findBeside(input);
    // Existing subtitles of the whole video are used for its sample, too.
    const isOfWhole = fromSubtitles && input.sample !== undefined;
    const others = isOfWhole ? await findBeside({ path: input.path, stem: parse(input.path).name }) : [];
    const files = [...own, ...others.filter(({ language }) => inLanguage(own, language).length === 0)];
    return Promise.all(
      files.map(async (file): Promise<FoundSubtitle> => {
        const written = stages.subtitles.get(relative(delivery.folder, file.path));
        const record = written?.video === input.name ? written : null;
        const found = await stat(file.path).catch(() => null);
        const isSpecial = found !== null && !found.isFile();
        const digest = record === null || isSpecial ? null : await digestFile(file.path);
        const isEdited = isSpecial || (digest !== null && record?.digests.has(digest) !== true);
        return { ...file, record, isSpecial, isEdited };
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

  /** Reads a file beside the video, if it is a regular file. */
  async function readBeside(file: FoundSubtitle, readFile: () => Promise<StageSubtitle | null>) {
    if (!file.isSpecial) return readFile();
    problems.push({ pointer: label(file.path), detail: 'this is not a regular file; remove or rename it' });
    return null;
  }

  const readSource = ({ input }: VideoItem, path: string, language: string | null, before: EarlierLines) => {
    const examineLines = io.examineLines('subtitle_translation');
    return read(path, { language, before, ...lengthOf(input), examineLines });
  };

  const readTarget = (item: VideoItem, path: string, before: EarlierLines) => {
    const examineLines = isDubbed(item) ? io.examineLines('dubbing') : NOT_SENT;
    return read(path, { language: item.targetLanguage ?? '', before, ...lengthOf(item.input), examineLines });
  };

  /** The lines that a job of an earlier run returned, without later edits. */
  async function linesOf(item: { readonly key: string }): Promise<EarlierLines> {
    const file = newestAttempt(item.key, recorded.attempts)?.files[0];
    return file === undefined ? null : readStageLines(resolve(delivery.folder, file.path));
  }

  /** The files that may be used: edited ones, and with --from-subtitles those of the user. */
  function usable(files: readonly FoundSubtitle[]): readonly FoundSubtitle[] {
    return files.filter(({ record, isEdited }) => (record === null ? fromSubtitles : isEdited));
  }

  function refuseSeveral(item: VideoItem, files: readonly FoundSubtitle[], fix: string): void {
    const names = files.map(({ path }) => label(path)).join(', ');
    problems.push({
      pointer: item.input.label,
      detail: `has several subtitle files: ${names}; ${fix}`,
    });
  }

  /** A file of the user is neither overwritten nor used without --from-subtitles. */
  function refuseForeign(files: readonly FoundSubtitle[], path: string): void {
    if (!files.some((file) => file.path === path && file.record === null)) return;
    const detail = 'already exists and was not written by vloc; use --from-subtitles or move it away';
    problems.push({ pointer: label(path), detail });
  }

  return {
    async findTarget(item) {
      const language = item.targetLanguage ?? '';
      if (choices.subtitle !== null) return readTarget(item, resolve(io.cwd, choices.subtitle), null);
      const files = (await look(item)).filter((file) => file.language === language);
      const [first, ...others] = usable(files);
      if (others.length > 0) refuseSeveral(item, usable(files), 'keep only one');
      if (first === undefined) {
        if (choices.stopAfter !== 'recognize') refuseForeign(files, besidePath(item.input, language, format));
        return null;
      }
      const before =
        first.record === null ? null : await linesOf(linesStage('subtitle_translation', item, null));
      return readBeside(first, () => readTarget(item, first.path, before));
    },
    async findWritten(item) {
      const language = item.targetLanguage ?? '';
      const files = await look(item);
      const written = files.find((file) => file.record !== null && file.language === language);
      return written === undefined ? null : readBeside(written, () => readTarget(item, written.path, null));
    },
    async findSource(item, targets) {
      const asked = item.fields.source_language;
      const wanted = typeof asked === 'string' && asked !== 'auto' ? asked : null;
      if (choices.sourceSubtitle !== null)
        return readSource(item, resolve(io.cwd, choices.sourceSubtitle), wanted, null);
      const files = await look(item);
      const own = files.filter(({ record }) => record?.role === 'source').at(-1);
      if (own !== undefined) {
        if (!own.isEdited) return null;
        const language = own.language === NO_LANGUAGE ? wanted : own.language;
        const before = await linesOf(videoStage('subtitle_recognition', item));
        return readBeside(own, () => readSource(item, own.path, language, before));
      }
      const foreign = files.filter(({ record }) => record === null);
      const tagged =
        wanted === null
          ? foreign.filter(({ language }) => language !== NO_LANGUAGE && !targets.includes(language))
          : inLanguage(foreign, wanted);
      const candidates = tagged.length > 0 ? tagged : inLanguage(foreign, NO_LANGUAGE);
      if (!fromSubtitles) {
        if (wanted !== null) refuseForeign(foreign, besidePath(item.input, wanted, format));
        return null;
      }
      const [first, ...others] = candidates;
      if (others.length > 0)
        refuseSeveral(item, candidates, 'set the language with --from, or pass --source-subtitle');
      if (first === undefined) return null;
      const language = first.language === NO_LANGUAGE ? wanted : first.language;
      return readBeside(first, () => readSource(item, first.path, language, null));
    },
  };
}

/** The length of the whole video, and how much of its subtitles belongs to the sample. */
function lengthOf({ seconds, sample }: VideoItem['input']): Pick<SubtitleUse, 'seconds' | 'sampleSeconds'> {
  return sample === undefined ? { seconds } : { seconds: sample.whole.seconds, sampleSeconds: seconds };
}

/** A subtitle file beside a video, named by its language if that is known: `talk.es.srt` or `talk.srt` for `talk.mp4`. */
interface BesideFile {
  /** Absolute. */
  readonly path: string;
  /** BCP 47, in canonical case; `und` if unknown. */
  readonly language: string;
}

/** ISO 639 tags of two or three letters, and their subtags. `talk.final.srt` names no language. */
const ENDING = /\.([a-z]{2,3}(?:-[a-z0-9]{2,8})*)\.(?:srt|vtt|ass|ssa)$/i;

/**
 * The path of a subtitle file beside the video. A name that is too long for the file system is shortened.
 * @param language null if unknown: then the name has none
 */
export function besidePath(
  video: { readonly path: string; readonly stem: string },
  language: string | null,
  format: SubtitleFormat,
): string {
  const tag = canonicalLanguage(language ?? NO_LANGUAGE) ?? NO_LANGUAGE;
  const ending = tag === NO_LANGUAGE ? format : `${tag}.${format}`;
  return join(dirname(video.path), fitName(`${video.stem}.${ending}`, video.stem));
}

/** All subtitle files beside the video; none if the folder cannot be listed. */
export async function findBeside(video: {
  readonly path: string;
  readonly stem: string;
}): Promise<readonly BesideFile[]> {
  const folder = dirname(video.path);
  const names = await readdir(folder).catch(() => []);
  const untagged = SUBTITLE_FORMATS.map((format) => besidePath(video, null, format));
  return names.toSorted().flatMap((name): BesideFile[] => {
    const [ending = '', tag] = ENDING.exec(name) ?? [];
    const whole = `${video.stem}${ending}`;
    const isOfVideo = name === whole || name === fitName(whole, video.stem);
    const language = tag === undefined || !isOfVideo ? null : canonicalLanguage(tag);
    const path = join(folder, name);
    if (untagged.includes(path)) return [{ path, language: NO_LANGUAGE }];
    return language === null ? [] : [{ path, language }];
  });
}

/** The files in this language: those with exactly this tag, otherwise all its varieties. */
export function inLanguage<T extends BesideFile>(files: readonly T[], language: string): readonly T[] {
  const tag = canonicalLanguage(language) ?? language;
  const exact = files.filter((file) => file.language === tag);
  return exact.length > 0 ? exact : files.filter((file) => baseLanguage(file.language) === baseLanguage(tag));
}
