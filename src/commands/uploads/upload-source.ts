/** The operands of `vloc upload`, checked before anything is sent. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { formatBytes } from '../../base/amounts.ts';
import { usageFailure } from '../../base/failure.ts';
import { isAddress, isHttps, ONLY_HTTPS } from '../../batch/plan/candidate.ts';
import { type Content, readContent } from '../../batch/plan/content.ts';
import { statReadable } from '../../batch/plan/file-status.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { UploadPurpose } from '../../protocol/states.ts';
import type { Io } from '../context/context.ts';

export interface UploadSource extends Content {
  readonly label: string;
  readonly path: string;
  readonly bytes: number;
  readonly fileName: string;
}

interface UploadSources {
  readonly sources: readonly UploadSource[];
  /** Removes the temporary copy of stdin. */
  readonly remove: () => Promise<void>;
}

const LIMIT: Readonly<Record<UploadPurpose, number>> = {
  source_video: LIMITS.videoBytes,
  subtitle_file: LIMITS.subtitleBytes,
};

/**
 * Checks every operand. Stdin (`-`) is copied to a temporary file, because its size must be known before.
 * @param asked purpose and file name of the options; default: by content
 * @throws Failure of category usage that names every unusable file
 */
export async function readUploadSources(
  operands: readonly string[],
  asked: { purpose: UploadPurpose | undefined; fileName: string | undefined },
  io: Io,
): Promise<UploadSources> {
  const folders: string[] = [];
  const remove = async () => {
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  };
  try {
    const problems: { pointer: string; detail: string }[] = [];
    const sources: UploadSource[] = [];
    for (const operand of new Set(operands)) {
      const checked = isAddress(operand)
        ? explainAddress(operand)
        : await checkFile(
            operand,
            operand === '-' ? await keepStdin(io, folders) : resolve(io.cwd, operand),
            asked,
          );
      if (typeof checked === 'string') problems.push({ pointer: operand, detail: checked });
      else sources.push(checked);
    }
    if (problems.length === 0) return { sources, remove };
    const message = 'not everything can be uploaded; nothing was sent';
    throw usageFailure('NOT_USABLE', message, undefined, { errors: problems });
  } catch (error) {
    await remove();
    throw error;
  }
}

function explainAddress(address: string): string {
  return isHttps(address)
    ? 'only files and - are uploaded; give the address to the command of the job itself, such as localize'
    : `only files and - are uploaded, and ${ONLY_HTTPS}`;
}

async function checkFile(
  operand: string,
  path: string,
  asked: { purpose: UploadPurpose | undefined; fileName: string | undefined },
): Promise<UploadSource | string> {
  const found = await statReadable(path);
  if (typeof found === 'string') return found;
  if (found.bytes === 0) return 'it is empty';
  const content = await readContent(path, found.bytes);
  if (typeof content === 'string' && asked.purpose === undefined) return content;
  const { contentType } = typeof content === 'string' ? { contentType: 'application/octet-stream' } : content;
  const purpose = asked.purpose ?? (typeof content === 'string' ? 'source_video' : content.purpose);
  if (found.bytes >= LIMIT[purpose]) {
    return `${formatBytes(found.bytes)} is over the limit of ${formatBytes(LIMIT[purpose])} for ${purpose}`;
  }
  const fileName = asked.fileName ?? (operand === '-' ? 'stdin' : basename(path));
  return {
    label: operand === '-' ? 'stdin' : operand,
    path,
    bytes: found.bytes,
    fileName,
    contentType,
    purpose,
  };
}

/** One byte above the limit is enough to reject it. */
const STDIN_LIMIT = LIMITS.videoBytes + 1;

async function keepStdin({ stdin }: Io, folders: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vloc-stdin-'));
  folders.push(folder);
  const path = join(folder, 'stdin');
  let bytes = 0;
  await pipeline(
    stdin,
    async function* limited(chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        bytes += chunk.length;
        yield chunk;
        if (bytes >= STDIN_LIMIT) return;
      }
    },
    createWriteStream(path, { mode: 0o600 }),
  );
  return path;
}
