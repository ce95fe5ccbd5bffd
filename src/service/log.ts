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

/** What an operator may know of a request: nothing that its caller wrote freely. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  /** `/v1/uploads/{upload_id}`: the path with its parameters left open; null where it leads nowhere. */
  readonly template: string | null;
  /** Null for what is no operation of the interface. */
  readonly operationId: string | null;
  /** Null when the caller went away before it was answered. */
  readonly status: number | null;
  readonly durationMs: number;
  /** Public identifier of the key; null until a signature was found right. */
  readonly keyId: string | null;
  readonly address: string | null;
}

export type RequestLog = (record: RequestRecord) => void;
