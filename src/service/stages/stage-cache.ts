/**
 * Results of stages that several jobs need: the first job that asks computes them, and the others wait. Keys of the
 * service do not share results. If the cache cannot be used, each job computes its stages itself.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { makeFolder } from '../../base/folder.ts';
import { orAborted } from '../../base/together.ts';
import type { StageSharing, Work } from '../../media/work.ts';
import { type Clock, repeatEvery, sleepFor } from '../clock.ts';
import { FOLDER_MODE } from '../folders.ts';
import type { Log } from '../log.ts';
import { LEASE_MS, RENEW_MS } from '../running/leases.ts';
import type { Lend } from '../running/worker.ts';
import { linkFile, openStageStore, type PackedResult, type StageStore } from './stage-store.ts';

interface SharingJob {
  /** Only jobs of the same key share results. */
  readonly keyId: string;
  /** When the source of the job is deleted, in ms since 1970. Its results are deleted then, too. */
  readonly expiresAt: number;
  /** Gives up the job's slot while it waits. */
  readonly lend: Lend;
}

export interface StageCache {
  forJob(job: SharingJob): StageSharing;
  /** Removes expired results. */
  sweep(now: number): Promise<void>;
  /** Whether a folder of the cache, or the work folder of a job that began a stage, is in use. */
  isKnown(folder: string, now: number): boolean;
  /** Removes all results that have files, because the disk is full. Returns whether there were any. */
  empty(): Promise<boolean>;
  close(): void;
}

interface CacheParts {
  /** An existing folder, on the disk of the work folders. */
  readonly root: string;
  /** File of the database; created at first use. */
  readonly path: string;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Enough for the stages of one attempt. Long paths are trouble for programs: espeak-ng cuts them at 200 bytes. */
const STAGE_NAME_BYTES = 4;

/** A stage that is being computed in this process. */
interface Computation {
  readonly done: Promise<PackedResult>;
  readonly folder: string;
  /** Receives the progress for each job that wants the result. Without any, the computation is stopped. */
  readonly listeners: Set<Work['report']>;
  readonly controller: AbortController;
  progress: Parameters<Work['report']> | null;
  /** Jobs that may still read the folder. */
  readers: number;
}

/** How often a job looks whether another process has finished a stage. */
const POLL_MS = 500;

export function createStageCache(parts: CacheParts): StageCache {
  const { root, path, maxBytes, clock, log } = parts;
  const underWay = new Map<string, Computation>();
  let opened: StageStore | null = null;
  let isClosed = false;
  const open = (): StageStore => {
    if (isClosed) throw new Error('the stage cache is closed');
    opened ??= openStageStore(root, path, maxBytes);
    return opened;
  };
  /** The store if there is one: looking creates none. */
  const existing = () => (opened !== null || (!isClosed && existsSync(path)) ? open() : null);

  const warn = (error: unknown) =>
    log({ level: 'warn', message: 'the stage cache cannot be used; stages are computed again', error });

  /** Runs work that no job may fail for. */
  async function optional<T>(work: () => T | Promise<T>, otherwise: T): Promise<T> {
    try {
      return await work();
    } catch (error) {
      warn(error);
      return otherwise;
    }
  }

  function begin<T>(key: string, owner: string, job: SharingJob, compute: (work: Work) => Promise<T>) {
    const folder = join(root, owner);
    mkdirSync(folder, { mode: FOLDER_MODE });
    const controller = new AbortController();
    const run = async () => {
      const stopRenewing = repeatEvery(clock, RENEW_MS, () => {
        void optional(() => open().renew(key, owner, clock.now()), undefined);
      });
      try {
        const packed = pack(await compute({ signal: controller.signal, folder, report }), folder);
        await optional(() => open().keep(key, packed, folder, job.expiresAt, clock.now()), undefined);
        return packed;
      } finally {
        stopRenewing();
        if (underWay.get(key) === computation) underWay.delete(key);
        await optional(() => open().release(key, owner), undefined);
      }
    };
    const report: Work['report'] = (...progress) => {
      computation.progress = progress;
      for (const listener of computation.listeners) listener(...progress);
    };
    const { promise: done, resolve } = Promise.withResolvers<PackedResult>();
    // A failure is reported to the jobs that wait.
    done.catch(() => {});
    const computation: Computation = {
      ...{ done, folder, controller, listeners: new Set<Work['report']>() },
      ...{ progress: null, readers: 0 },
    };
    underWay.set(key, computation);
    resolve(run());
    return computation;
  }

  /**
   * Waits for a result. Every job may leave at any time, but the one that began stays until the end, because the
   * computation reads files in its folder.
   */
  async function attend<T>(key: string, computation: Computation, work: Work, isFirst: boolean): Promise<T> {
    const { done, folder, listeners, controller } = computation;
    computation.readers += 1;
    listeners.add(work.report);
    if (computation.progress !== null) work.report(...computation.progress);
    try {
      return await unpack<T>(await orAborted(done, work.signal), folder, work.folder);
    } finally {
      listeners.delete(work.report);
      if (listeners.size === 0 && underWay.get(key) === computation) {
        // A job that asks from now on starts over.
        underWay.delete(key);
        controller.abort(work.signal.reason);
      }
      if (isFirst || controller.signal.aborted) await done.catch(() => {});
      computation.readers -= 1;
      if (computation.readers === 0) {
        await optional(() => rm(folder, { recursive: true, force: true }), undefined);
      }
    }
  }

  /** Waits until another process has finished a stage or has given up, or the signal is aborted. */
  async function untilSettled(key: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !open().isSettled(key, clock.now())) {
      const before = clock.now();
      await sleepFor(clock, POLL_MS, signal);
      // The machine was suspended, and all claims expired in the meantime: give their owners time to renew them.
      if (clock.now() - before > LEASE_MS) await sleepFor(clock, 2 * RENEW_MS, signal);
    }
  }

  async function once<T>(job: SharingJob, ownKey: string, work: Work, compute: (work: Work) => Promise<T>) {
    const key = createHash('sha256').update(`${job.keyId} ${ownKey}`).digest('hex');
    for (;;) {
      work.signal.throwIfAborted();
      const running = underWay.get(key);
      if (running !== undefined) {
        return { result: await job.lend(() => attend<T>(key, running, work, false)), reused: true };
      }
      const taken = await optional(() => open().take(key, work.folder, clock.now()), undefined);
      if (taken === undefined) return { result: await compute(work), reused: false };
      if (taken !== null) return { result: parse<T>(taken, work.folder), reused: true };
      // Another job may have begun meanwhile. From here to `begin`, nothing is awaited.
      if (underWay.has(key)) continue;
      // By this name a sweep knows the folders that the computation uses, also when the job itself has ended.
      const owner = `${basename(work.folder)}.${randomBytes(STAGE_NAME_BYTES).toString('hex')}`;
      let computation: Computation | null = null;
      try {
        if (open().claim(key, owner, clock.now())) computation = begin(key, owner, job, compute);
      } catch (error) {
        warn(error);
        await optional(() => open().release(key, owner), undefined);
        return { result: await compute(work), reused: false };
      }
      if (computation !== null) {
        return { result: await attend<T>(key, computation, work, true), reused: false };
      }
      await job.lend(() => optional(() => untilSettled(key, work.signal), undefined));
    }
  }

  return {
    forJob: (job) => ({ once: (key, work, compute) => once(job, key, work, compute) }),
    sweep: (now) => optional(() => existing()?.sweep(now), undefined),
    isKnown(folder, now) {
      try {
        return existing()?.isKnown(folder, now) ?? false;
      } catch (error) {
        warn(error);
        return true;
      }
    },
    empty: () => optional(() => existing()?.empty() ?? false, false),
    close() {
      isClosed = true;
      opened?.close();
      opened = null;
    },
  };
}

/** The name of a file in a packed result. Other objects of a result have no such member. */
const FILE = '$file';

/** Replaces paths in a folder by names. @throws Error for a path that leads out of the folder */
function pack(result: unknown, folder: string): PackedResult {
  const names: string[] = [];
  const value = JSON.stringify(result, (_, each: unknown) => {
    if (typeof each !== 'string' || !each.startsWith(folder + sep)) return each;
    const name = relative(folder, each);
    if (name.startsWith('..') || isAbsolute(name))
      throw new Error('a stage returned a file outside its folder');
    names.push(name);
    return { [FILE]: name };
  });
  return { value, names };
}

/** Returns the result with the paths that its files have in a folder. */
function parse<T>({ value }: PackedResult, folder: string): T {
  return JSON.parse(value, (_, each: unknown) => {
    const isFile = typeof each === 'object' && each !== null && FILE in each;
    return isFile ? join(folder, String(each[FILE])) : each;
  });
}

/** Links the files of a result into another folder. */
async function unpack<T>(packed: PackedResult, from: string, to: string): Promise<T> {
  for (const name of packed.names) {
    await makeFolder(dirname(join(to, name)), FOLDER_MODE);
    await linkFile(join(from, name), join(to, name));
  }
  return parse<T>(packed, to);
}
