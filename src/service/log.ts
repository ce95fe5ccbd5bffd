/** One thing that an operator may want to know. Never holds a secret, a signature or the query of an address. */
export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly requestId?: string;
  /** Id of the job or upload it is about. */
  readonly resourceId?: string;
  readonly error?: unknown;
}

export type Log = (entry: LogEntry) => void;
