/** Names of files in a package for others. Pure. */
import { resolve } from 'node:path';
import { basename, dirname, extname, join } from 'node:path/posix';
import { nameBelow } from '../../base/relative-name.ts';
import type { ReadRecords } from '../records/batch-records.ts';
import { nameOfKey } from '../records/item-key.ts';
import { RECORD_FOLDER } from '../records/record-folder.ts';
import { safeName } from '../result-name.ts';
import type { FolderFacts } from './shard-facts.ts';

interface PackNames {
  /** The name of a file, absolute, that belongs to the package from now on; null for a track that does not. */
  readonly nameFile: (file: string) => string | null;
  /** The names of all files that were named, by path. */
  readonly named: ReadonlyMap<string, string>;
}

interface PackSource extends Pick<FolderFacts, 'folder' | 'facts'> {
  readonly records: Pick<ReadRecords, 'facts' | 'stages'>;
}

interface PackRules {
  readonly noOriginals: boolean;
  readonly isSubtitle: (file: string) => boolean;
}

/** Names all results, and then each file that is asked for, by what it is and where it lies; all systems take the names. */
export function createPackNames(
  batches: readonly PackSource[],
  { noOriginals, isSubtitle }: PackRules,
): PackNames {
  const results = new Set(batches.flatMap(listResults));
  const below = (file: string) => batches.flatMap(({ folder }) => nameBelow(folder, file) ?? [])[0];
  const ofRecords = (file: string) => below(file)?.startsWith(`${RECORD_FOLDER}/`) === true;
  const inputs = new Map(batches.flatMap(nameInputs));
  const named = new Map<string, string>();
  // Some systems take names in other letters for the same.
  const taken = new Set<string>();
  const fold = (name: string) => name.normalize().toLowerCase();

  function pick(wanted: string): string {
    const ending = extname(wanted);
    const stem = wanted.slice(0, wanted.length - ending.length);
    let name = wanted;
    for (let count = 2; taken.has(fold(name)); count += 1) name = `${stem}-${count}${ending}`;
    taken.add(fold(name));
    return name;
  }

  function nameFile(file: string): string | null {
    const known = named.get(file);
    if (known !== undefined) return known;
    const kind = isSubtitle(file) ? 'subtitles' : results.has(file) ? 'results' : 'originals';
    if (kind !== 'subtitles' && ofRecords(file)) return null;
    if (kind === 'originals' && noOriginals) return null;
    const path = (ofRecords(file) ? null : (inputs.get(file) ?? below(file))) ?? basename(file);
    const name = pick([kind, ...path.split('/').map(safeName)].join('/'));
    named.set(file, name);
    return name;
  }

  // Steps on the way to a result are kept with the records.
  for (const file of results) if (!ofRecords(file)) nameFile(file);
  return { nameFile, named };
}

function listResults({ facts }: PackSource): readonly string[] {
  return facts.items.flatMap(({ files }) => files.map(({ path }) => path));
}

/** Inputs, and subtitles beside them, with where they lie below the root of the inputs. */
function nameInputs({
  folder,
  records: { facts, stages },
}: PackSource): readonly (readonly [string, string])[] {
  const inputs = [...facts].flatMap(([key, { path }]) => {
    const name = nameOfKey(key);
    return path === null || name === null ? [] : [[path, name] as const];
  });
  const texts = [...stages.subtitles.values()].map(
    ({ path, video }) => [resolve(folder, path), video] as const,
  );
  // The input of a stage has the name of its video.
  return [...inputs, ...texts].map(([path, name]) => [path, join(dirname(name), basename(path))]);
}
