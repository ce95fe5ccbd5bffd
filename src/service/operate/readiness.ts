/** Whether a service can do its work: its database, its storage and its queue, each separately. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { ServiceContext } from '../context.ts';
import { isLive, readNodes } from '../running/nodes.ts';
import { withDeadline } from '../time-limits.ts';

/** `ok`, or why not. Anyone may read it, so it names no machine and no folder. */
interface Readiness {
  readonly database: string;
  readonly storage: string;
  readonly queue: string;
}

const OK = 'ok';
/** A part that does not answer must not keep the answer of the others. */
const ANSWER_MS = 5000;

/** Writes a row with the same value, to test writing to disk without a change. */
const TOUCH = `UPDATE secrets SET value = value WHERE name = 'links'`;

/** Checks all parts of a service concurrently. Never throws. */
export async function checkReadiness(context: ServiceContext): Promise<Readiness> {
  const [database, storage, queue] = await Promise.all([
    checkDatabase(context),
    attempt(context, 'the files cannot be written', () => checkStorage(context)),
    attempt(context, 'it cannot be read', () => checkQueue(context)),
  ]);
  return { database, storage, queue };
}

/** Checks that the account can be changed. Returns `ok` or why not; never throws. */
export function checkDatabase(context: ServiceContext): Promise<string> {
  return attempt(context, 'the store cannot be written', async () => {
    await context.store.run(TOUCH);
    return OK;
  });
}

/** Also a node with storage elsewhere needs its folder, for the files of running jobs. */
async function checkStorage({ folders, storage }: ServiceContext): Promise<string> {
  const used = storage.sharesFolder ? [folders.uploads, folders.assets] : [folders.work];
  for (const folder of used) await access(folder, constants.W_OK);
  await storage.check();
  return OK;
}

async function attempt(
  context: ServiceContext,
  failure: string,
  check: () => Promise<string>,
): Promise<string> {
  const { clock, log } = context;
  const limit = {
    clock,
    ms: ANSWER_MS,
    failure: new Error('no answer'),
    signal: new AbortController().signal,
  };
  try {
    return await withDeadline(limit, (signal) =>
      Promise.race([
        check(),
        new Promise<never>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        }),
      ]),
    );
  } catch (error) {
    log({ level: 'error', message: failure, error });
    return failure;
  }
}

/** Jobs and uploads that no process works on. */
const WAITING = `
  SELECT (SELECT count(*) FROM jobs WHERE status IN ('queued', 'processing') AND lease_owner IS NULL) AS jobs,
    (SELECT count(*) FROM uploads WHERE status = 'validating' AND lease_owner IS NULL) AS uploads`;

/** Without a database, this process carries out the jobs itself, or others on the same folder do, which are not known. */
async function checkQueue({ store, clock, isShared }: ServiceContext): Promise<string> {
  const waiting = await store.get<{ jobs: number; uploads: number }>(WAITING);
  if (!isShared || waiting === undefined || waiting.jobs + waiting.uploads === 0) return OK;
  const now = clock.now();
  const hasWorker = (await readNodes(store)).some((node) => node.capabilities !== null && isLive(node, now));
  return hasWorker ? OK : `no worker runs; ${waiting.jobs} jobs and ${waiting.uploads} uploads wait`;
}
