import type { Io } from '../../context/io.ts';

/** A value with what it is, as shells show it beside the value. */
export interface Offered {
  readonly value: string;
  readonly explains: string;
}

/** What of a run the sources of values look at. */
export type Surroundings = Pick<Io, 'env' | 'platform' | 'now'>;
