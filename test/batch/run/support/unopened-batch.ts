/** A batch with everything that it takes, for a run in this process or in a child. */
import type { BatchItem } from '../../../../src/batch/item.ts';
import { openJobRecord } from '../../../../src/batch/records/job-record.ts';
import { profileId } from '../../../../src/batch/records/profile-id.ts';
import { openUploadRecord } from '../../../../src/batch/records/upload-record.ts';
import type { RunOptions } from '../../../../src/batch/run/batch.ts';
import { type ClientEvent, createClient } from '../../../../src/client/index.ts';
import { SYSTEM_RUNTIME } from '../../../../src/client/runtime.ts';
import { createPreparation } from '../../../../src/commands/jobs/preparation.ts';
import type { UnopenedBatch } from './run-in-folder.ts';

export interface Opening {
  readonly baseUrl: string;
  readonly credentials: { readonly key: string; readonly secret: string };
  readonly stateDir: string;
  readonly out: string;
  readonly items: readonly BatchItem[];
  readonly options?: Partial<RunOptions> | undefined;
  readonly onEvent?: (event: ClientEvent) => void;
}

const OPTIONS: RunOptions = {
  jobs: 15,
  maxCredits: null,
  maxDurationMs: null,
  timeoutMs: null,
  fresh: false,
  retryFailed: false,
  rebuild: false,
  detach: false,
};

/** Backs off without waiting long: the service is on this machine, and its faults are scripted. */
const QUICK: UnopenedBatch['runtime'] = {
  ...SYSTEM_RUNTIME,
  sleep: (ms, signal) => SYSTEM_RUNTIME.sleep(Math.min(ms, 5), signal),
};

export function unopenedBatch({
  baseUrl,
  credentials,
  stateDir,
  out,
  items,
  options,
  onEvent = () => undefined,
}: Opening): UnopenedBatch {
  const profile = profileId(baseUrl, credentials.key);
  const client = createClient({ baseUrl, ...credentials, runtime: QUICK, onEvent });
  const { now } = QUICK;
  return {
    tasks: items.map((item) => ({ item, decision: { step: 'new', after: null } })),
    delivery: { folder: out, template: '', existing: 'refuse' },
    connection: { client, everyMs: 10, isFree: false, readProvenance: async () => null },
    records: {
      jobs: openJobRecord(stateDir, profile, now),
      uploads: openUploadRecord(stateDir, profile, now),
    },
    options: { ...OPTIONS, ...options },
    runtime: QUICK,
    preparation: createPreparation({ env: process.env }),
    command: 'test',
    preface: [],
    listen: () => undefined,
    warn: () => undefined,
    signal: new AbortController().signal,
  };
}
