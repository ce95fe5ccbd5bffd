/** The models that `vloc models install` offers: `catalog.json`, reviewed in git, with the schema of each entry. */
import * as v from 'valibot';
import { configurationFailure } from '../../base/failure.ts';

/** The steps of models, in the order in which they are chosen. */
export const MODEL_STEPS = ['recognize', 'translate', 'speak', 'diarize'] as const;
export type ModelStep = (typeof MODEL_STEPS)[number];

/** A path below the folder of the model: no part begins with a dot, so none leads elsewhere or hides. */
const PATH = /^[\w+-][\w.+-]*(?:\/[\w+-][\w.+-]*)*$/;

/** An address whose content cannot change unnoticed: of a commit on the hub, or of a release. */
const ADDRESS =
  /^https:\/\/(?:huggingface\.co\/[\w.-]+\/[\w.-]+\/resolve\/[0-9a-f]{40}\/|github\.com\/[\w.-]+\/[\w.-]+\/releases\/download\/[\w.-]+\/)[\w./+-]+$/;

const Text = v.pipe(v.string(), v.nonEmpty());
const Count = v.pipe(v.number(), v.integer(), v.minValue(1));

const ModelFile = v.strictObject({
  path: v.pipe(v.string(), v.regex(PATH)),
  url: v.pipe(v.string(), v.regex(ADDRESS)),
  bytes: Count,
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
});

const Model = v.strictObject({
  /** Also the name of its folder, by which sherpa-onnx recognizes some types. */
  id: v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9.-]*$/)),
  step: v.picklist(MODEL_STEPS),
  title: Text,
  /** `small` runs on a laptop with 8 GB of memory and without a graphics card. */
  size: v.picklist(['small', 'large']),
  /** BCP 47 tags; of a translator, from each to each. Empty: any. */
  languages: v.array(Text),
  licence: v.strictObject({
    /** SPDX expression. */
    spdx: Text,
    url: v.pipe(v.string(), v.url()),
    /** The attribution that the licence demands. */
    notice: Text,
    commercial: v.picklist(['yes', 'no', 'unclear']),
    /** The name for `--accept`, of a licence that a user must accept by name. */
    accept: v.exactOptional(Text),
  }),
  /**
   * Memory in MiB: as measured (Hy-MT2 1.8B: 2.57 GB) or published, else 1.7 times the files (Parakeet: 1.6), or 1.3 times
   * those of GGUF models (Hy-MT2 7B: 1.3).
   */
  memoryMib: Count,
  /** Entry of `engines.json`; `{folder}` stands for the folder of the model, `{languages}` for the list above. */
  entry: v.looseObject({ type: Text }),
  /** Figures about its quality that others published, and in which month they were read there. */
  published: v.array(
    v.strictObject({
      figure: Text,
      source: v.pipe(v.string(), v.url()),
      date: v.pipe(v.string(), v.regex(/^\d{4}-\d{2}$/)),
    }),
  ),
  files: v.pipe(v.array(ModelFile), v.minLength(1)),
});

const Catalog = v.strictObject({ version: v.literal(1), models: v.array(Model) });

export type ModelFile = v.InferOutput<typeof ModelFile>;
export type Model = v.InferOutput<typeof Model>;

/** Reads the catalogue of this version. */
export async function readCatalog(): Promise<readonly Model[]> {
  const { default: catalog } = await import('./catalog.json', { with: { type: 'json' } });
  return parseCatalog(catalog);
}

/**
 * Checks a catalogue and returns its models, the preferred one of each step first.
 * @throws Failure (`configuration`) if it is damaged
 */
export function parseCatalog(value: unknown): readonly Model[] {
  const result = v.safeParse(Catalog, value);
  if (result.success) return result.output.models;
  const [issue] = result.issues;
  throw configurationFailure(
    'CATALOG_INVALID',
    `the catalogue of models is damaged: ${v.getDotPath(issue) ?? 'it'}: ${issue.message}`,
    'Install vloc again.',
  );
}

/** The bytes of all files. */
export function sizeOf({ files }: Pick<Model, 'files'>): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The entry of `engines.json` for a model in a folder. */
export function fillEntry({ id, entry, languages, memoryMib }: Model, folder: string): object {
  const fill = (value: unknown): unknown => {
    if (value === '{languages}') return languages;
    return typeof value === 'string' ? value.replace('{folder}', () => folder) : value;
  };
  const fields = Object.entries(entry).map(([name, value]) => [name, fill(value)]);
  return { ...Object.fromEntries(fields), memoryMib, managed: id };
}
