/** What a job is made from, once it has passed its checks. */
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';

/** What every input has. */
interface Named {
  /** For people: the path as it was given or found, an address without its query, an id. */
  readonly label: string;
  /** Names its results. */
  readonly stem: string;
  /** What it is called below its root, `/` between folders; an id or an address for what is no file. The same in every run. */
  readonly name: string;
}

/** What is known of a file's content without reading all of it. */
export interface FileFacts {
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since 1970, as the file system keeps it. */
  readonly mtimeMs: number;
}

/** An input that passed its checks. */
export type JobInput =
  | (Named &
      FileFacts & {
        readonly type: 'file';
        /** Media type, by content. */
        readonly contentType: string;
        /** Null when nothing here can measure it. */
        readonly seconds: number | null;
      })
  | (Named & { readonly type: 'url'; readonly url: string })
  | (Named & { readonly type: 'upload'; readonly id: string })
  /** A job whose result has lines: bare, kind/id or detail_url. */
  | (Named & { readonly type: 'job'; readonly reference: string })
  | (Named & {
      readonly type: 'lines';
      readonly lines: readonly SubtitleLine[];
      /** SHA-256 of the bytes that they were read from, lower-case hex. */
      readonly sha256: string;
      /** Null for stdin. */
      readonly file: FileFacts | null;
    });

/** An operand that cannot be used: why, with the mend in the same sentence. */
export interface InputProblem {
  readonly pointer: string;
  readonly detail: string;
}
