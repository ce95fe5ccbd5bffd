/** Writes subtitles beside the videos for users to edit. Files and edits of users are never overwritten. */
import { hash } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { diskFailure, Failure, usageFailure } from '../../base/failure.ts';
import { makeFolder } from '../../base/folder.ts';
import { placeFile } from '../../batch/deliver/result-file.ts';
import { STAGES_FOLDER } from '../../batch/stages/items.ts';
import type { StageSubtitleRecord } from '../../batch/stages/records.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { labelOf } from './given-subtitle.ts';
import type { StagedRun } from './staged-run.ts';

/** A subtitle file to write. */
export interface SubtitleFile {
  /** Absolute. */
  readonly path: string;
  readonly lines: readonly SubtitleLine[];
  /** Name of the video below its root. */
  readonly video: string;
  readonly role: StageSubtitleRecord['role'];
  /** BCP 47 tag; `und` if unknown. */
  readonly language: string;
}

/**
 * Writes a file.
 * @returns why it was not written; null if it was, or did not have to be
 * @throws Failure of the lock or the journal of the folder
 */
export async function writeSubtitle(run: StagedRun, file: SubtitleFile): Promise<Failure | null> {
  const { context, plan, journal } = run;
  const { path, video, role, language } = file;
  const { writeSubtitle: formatSubtitle } = await import('../../media/subtitles/write.ts');
  const bytes = Buffer.from(formatSubtitle(file.lines, plan.choices.format));
  const sha256 = hash('sha256', bytes);
  const place = relative(plan.delivery.folder, path);
  const digests = journal.stages.subtitles.get(place)?.digests;
  const found = await stat(path).catch(() => null);
  // Reading a pipe could block forever.
  if (found !== null && !found.isFile()) return otherFileFailure(path);
  const there = await readFile(path).catch(() => null);
  const isSame = there?.equals(bytes) === true;
  if (isSame && digests?.size === 1 && digests.has(sha256)) return null;
  const isOurs = there === null || isSame || digests?.has(hash('sha256', there)) === true;
  if (!isOurs) {
    if (digests === undefined) return otherFileFailure(path);
    const name = labelOf(path, context.io.cwd);
    context.terminal.warn(
      `${name} was edited meanwhile and was left unchanged; run this again to continue from it.`,
    );
    return null;
  }
  // The record comes first: after a crash, a file without one would count as the user's.
  const at = new Date(context.io.now()).toISOString();
  const record = { type: 'stage_subtitle', at, video, role, language, path: place, sha256 } as const;
  if (!isSame) {
    await journal.add(record);
    const publish = (part: string) => placeFile(part, path, there !== null, run.inputs.find);
    const failure = await publishFile(plan.delivery.folder, path, bytes, publish);
    if (failure !== null) return failure;
  }
  // From now on only the user can bring the replaced version back.
  await journal.add({ ...record, is_placed: true });
  return null;
}

async function publishFile(
  folder: string,
  path: string,
  bytes: Uint8Array,
  publish: (part: string) => Promise<void>,
): Promise<Failure | null> {
  const part = join(folder, STAGES_FOLDER, `${hash('sha256', path)}.part`);
  try {
    await makeFolder(join(folder, STAGES_FOLDER), 0o700);
    await writeFile(part, bytes);
    await publish(part);
    return null;
  } catch (error) {
    return error instanceof Failure ? error : unwritableFailure(path, error);
  }
}

function otherFileFailure(path: string): Failure {
  return usageFailure(
    'TARGET_EXISTS',
    `${path} already exists, was not written by vloc, and was not changed`,
    'Move it away and run the same command again, which pays nothing twice; or use it with --from-subtitles.',
  );
}

function unwritableFailure(path: string, cause: unknown): Failure {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  return diskFailure(
    'DISK_ERROR',
    `${path} cannot be written (${code})`,
    'Free some space, or make the folder of the video writable, then run the same command again.',
    {},
    { cause },
  );
}
