/** Whether the options for the folder of the results can be meant as they are written. */
import { stat } from 'node:fs/promises';
import { basename, dirname, extname, resolve } from 'node:path';
import type { Io } from '../../context/io.ts';
import { quoteForShell } from '../../context/printed-command.ts';
import { usageFailure } from '../../context/usage-failure.ts';
import type { Failure } from '../../errors/failure.ts';
import { RESULT_FORMATS } from '../../protocol/result-formats.ts';
import { SUBTITLE_FORMATS } from '../../protocol/subtitle-line.ts';

const RESULT_EXTENSIONS: ReadonlySet<string> = new Set([
  ...Object.values(RESULT_FORMATS).map(({ extension }) => extension),
  ...SUBTITLE_FORMATS.map((format) => `.${format}`),
]);

/**
 * Checks --out, --clobber and --skip-existing; nothing was sent yet.
 * @throws Failure of category usage for a file where a folder is expected, and for flags that contradict each other
 */
export async function checkFolder(
  options: Readonly<Record<string, unknown>>,
  io: Pick<Io, 'cwd' | 'platform'>,
): Promise<void> {
  if (options.clobber === true && options.skipExisting === true) {
    throw usageFailure(
      '--clobber replaces files that exist, and --skip-existing keeps them',
      'Leave one of them out.',
    );
  }
  const { out } = options;
  // A dash is stdout.
  if (typeof out !== 'string' || out === '-') return;
  const found = await stat(resolve(io.cwd, out)).catch(() => null);
  if (found?.isDirectory() === true) return;
  if (found !== null) throw notFolder(`--out takes a folder, and ${out} is a file`, out, io);
  const isFileName = RESULT_EXTENSIONS.has(extname(out).toLowerCase()) && !/[/\\]$/.test(out);
  if (isFileName) throw notFolder(`--out takes a folder, and ${out} is the name of a file`, out, io);
}

function notFolder(message: string, out: string, { platform }: Pick<Io, 'platform'>): Failure {
  const [folder, name] = [dirname(out), basename(out)].map((word) => quoteForShell(word, platform));
  return usageFailure(message, `Name the folder and the file: --out ${folder} --name ${name}`);
}
