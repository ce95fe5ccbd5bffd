/** The files that vloc has put in their places, or was about to: by these rows it knows them as its own. */
import type { StoredFile } from './attempts.ts';

/** Whose a file is. */
export interface OutputOwner {
  /** Key of the item; of a subtitle beside a video, the name of the video. */
  readonly item: string;
  /**
   * `result`: of its jobs; `export`: put together here from those of its stages; subtitles beside its video, for the user to edit:
   * `source` in the spoken language, `target` the translation; `provenance`: how a result was made.
   */
  readonly step: 'result' | 'export' | 'source' | 'target' | 'provenance';
}

export interface OutputVersion {
  /** The id of a job, or a digest of what the file was made of: one of another making is another version. */
  readonly made: string;
  /** Of subtitles beside a video: BCP 47 tag; `und` if unknown. */
  readonly language?: string;
}

/** Written before files get their names, and again once they have them. Paths are absolute. */
export interface OutputsRecord extends OutputOwner, OutputVersion {
  readonly type: 'outputs';
  readonly files: readonly StoredFile[];
  /** True once they are in their places: from then on, only the user can bring an earlier version back. */
  readonly is_placed?: true;
}

/** One version of a file. */
export type OutputRow = StoredFile & OutputOwner & OutputVersion;

/** The versions of a file, of the files of an owner, or of all, that may be in their places. */
export type FindOutputs = (where: Partial<OutputOwner> & { readonly path?: string }) => readonly OutputRow[];
