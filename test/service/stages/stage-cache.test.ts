/** Jobs that need the same stage. Several caches on one folder stand for several processes. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StatementSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { StageSharing, Work } from '../../../src/media/work.ts';
import { createMovableClock } from '../../../src/service/control/clock.ts';
import type { LogEntry } from '../../../src/service/index.ts';
import { createStageCache, type StageCache } from '../../../src/service/stages/stage-cache.ts';
import { createWork, type RecordedWork } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { until } from '../harness/scene.ts';

const DAY_MS = 86_400_000;
const MIB = 1024 ** 2;

/** A folder of finished stages, on a clock of its own. */
function makeShelf() {
  const folder = makeFolder();
  const root = join(folder, 'stages');
  mkdirSync(root);
  const clock = createMovableClock();
  const logged: LogEntry[] = [];
  let jobs = 0;
  return {
    ...{ root, clock, logged, database: join(folder, 'stages.sqlite') },
    /** Another process on the folder. */
    open(maxBytes = 100 * MIB, own = clock): StageCache {
      const log = (entry: LogEntry) => logged.push(entry);
      const path = join(folder, 'stages.sqlite');
      const cache = createStageCache({ root, path, maxBytes, clock: own, log });
      onTestFinished(() => cache.close());
      return cache;
    },
    /** The work of a job. */
    work(signal?: AbortSignal): RecordedWork {
      jobs += 1;
      const own = join(folder, `job-${jobs}`);
      mkdirSync(own);
      return createWork(own, signal);
    },
    /** Lets a job of the key share stages. */
    share: (cache: StageCache, keyId = 'key', days = 7): StageSharing =>
      cache.forJob({ keyId, expiresAt: clock.now() + days * DAY_MS, lend: (wait) => wait() }),
    kept: () => readdirSync(root),
  };
}

/** A stage that writes a file and counts its runs. It waits at a gate if it has one. */
function makeStage({ text = 'sound', gate = Promise.resolve() } = {}) {
  const signals: AbortSignal[] = [];
  const compute = async (work: Work) => {
    signals.push(work.signal);
    work.report(0.5);
    await Promise.race([
      gate,
      new Promise((_resolve, reject) => {
        work.signal.addEventListener('abort', () => reject(work.signal.reason), { once: true });
      }),
    ]);
    const path = join(work.folder, 'voice.wav');
    await writeFile(path, text);
    await writeFile(join(work.folder, 'scratch.tmp'), 'not a part of the result');
    return { path, level: -0.1, use: { engine: 'builtin', skipped: ['a'] } };
  };
  return { signals, compute };
}

const textOf = ({ result }: { result: { path: string } }) => readFileSync(result.path, 'utf8');

describe('a stage that another job has finished', () => {
  test('is not computed again, and each job gets its own files', async () => {
    const shelf = makeShelf();
    const { compute, signals } = makeStage();
    const cache = shelf.open();
    const [first, second] = [shelf.work(), shelf.work()];
    const one = await shelf.share(cache).once('stage', first, compute);
    const two = await shelf.share(cache).once('stage', second, compute);
    expect([one.reused, two.reused, signals.length]).toEqual([false, true, 1]);
    expect(two.result).toEqual({ ...one.result, path: join(second.folder, 'voice.wav') });
    expect([textOf(one), textOf(two)]).toEqual(['sound', 'sound']);
    expect(readdirSync(second.folder)).toEqual(['voice.wav']);
    expect(shelf.kept()).toHaveLength(1);
  });

  test('is found by a process that starts later', async () => {
    const shelf = makeShelf();
    const { compute, signals } = makeStage();
    const before = shelf.open();
    await shelf.share(before).once('stage', shelf.work(), compute);
    before.close();
    expect((await shelf.share(shelf.open()).once('stage', shelf.work(), compute)).reused).toBe(true);
    expect(signals).toHaveLength(1);
  });

  test('is computed again for another key of the service', async () => {
    const shelf = makeShelf();
    const { compute, signals } = makeStage();
    const cache = shelf.open();
    await shelf.share(cache, 'mine').once('stage', shelf.work(), compute);
    expect((await shelf.share(cache, 'yours').once('stage', shelf.work(), compute)).reused).toBe(false);
    expect(signals).toHaveLength(2);
  });

  test('can be read by nobody else', async () => {
    const shelf = makeShelf();
    await shelf.share(shelf.open()).once('stage', shelf.work(), makeStage().compute);
    const [folder = ''] = shelf.kept();
    const modes = [join(shelf.root, folder, '0'), shelf.database].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600]);
    expect(statSync(join(shelf.root, folder)).mode & 0o777).toBe(0o700);
  });

  test.each(['sweep', 'empty'] as const)(
    'loses its files although no record can be written: %s',
    async (way) => {
      const shelf = makeShelf();
      const cache = shelf.open();
      for (const stage of ['one', 'two']) {
        await shelf.share(cache, 'key', 1).once(stage, shelf.work(), makeStage().compute);
      }
      expect(shelf.kept()).toHaveLength(2);
      const spy = vi.spyOn(StatementSync.prototype, 'run').mockImplementation(() => {
        throw Object.assign(new Error('database or disk is full'), { errcode: 13 });
      });
      onTestFinished(() => spy.mockRestore());
      shelf.clock.advance(DAY_MS);
      if (way === 'sweep') await cache.sweep(shelf.clock.now());
      else await cache.empty();
      expect(shelf.kept()).toEqual([]);
    },
  );

  test('is unavailable when its source is deleted, even before a sweep removes its files', async () => {
    const shelf = makeShelf();
    const { compute } = makeStage();
    const cache = shelf.open();
    await shelf.share(cache, 'key', 2).once('stage', shelf.work(), compute);
    shelf.clock.advance(2 * DAY_MS);
    expect((await shelf.share(cache, 'key', 2).once('stage', shelf.work(), compute)).reused).toBe(false);
    // The second result has replaced the first.
    expect(shelf.kept()).toHaveLength(1);
    shelf.clock.advance(2 * DAY_MS);
    await cache.sweep(shelf.clock.now());
    expect(shelf.kept()).toEqual([]);
  });
});

describe('a finished stage that is damaged', () => {
  const damages: Record<string, (file: string) => void> = {
    'a file that is cut short': (file) => truncateSync(file, 3),
    'a file of the same length with other bytes': (file) => writeFileSync(file, 'SOUND'),
    'a missing file': (file) => rmSync(file),
  };
  test.each(Object.entries(damages))('is computed again: %s', async (_, damage) => {
    const shelf = makeShelf();
    const cache = shelf.open();
    const { compute, signals } = makeStage();
    await shelf.share(cache).once('stage', shelf.work(), compute);
    const [folder = ''] = shelf.kept();
    damage(join(shelf.root, folder, '0'));
    const again = await shelf.share(cache).once('stage', shelf.work(), compute);
    expect([again.reused, textOf(again), signals.length]).toEqual([false, 'sound', 2]);
    const third = await shelf.share(cache).once('stage', shelf.work(), compute);
    expect([third.reused, textOf(third)]).toEqual([true, 'sound']);
  });

  test('is computed again if the database is damaged', async () => {
    const shelf = makeShelf();
    const { compute, signals } = makeStage();
    const before = shelf.open();
    await shelf.share(before).once('stage', shelf.work(), compute);
    before.close();
    writeFileSync(shelf.database, 'no database'.repeat(1000));
    const after = shelf.open();
    for (const reused of [false, true]) {
      expect((await shelf.share(after).once('stage', shelf.work(), compute)).reused).toBe(reused);
    }
    expect(signals).toHaveLength(2);
  });

  test('never fails a job: without a usable folder every job computes for itself', async () => {
    const shelf = makeShelf();
    const cache = createStageCache({
      root: join(shelf.root, 'missing'),
      path: join(shelf.root, 'missing', 'stages.sqlite'),
      maxBytes: MIB,
      clock: shelf.clock,
      log: (entry) => shelf.logged.push(entry),
    });
    const { compute, signals } = makeStage();
    for (const job of [shelf.work(), shelf.work()]) {
      const done = await shelf.share(cache).once('stage', job, compute);
      expect([done.reused, textOf(done)]).toEqual([false, 'sound']);
    }
    expect(signals).toHaveLength(2);
    expect(shelf.logged[0]?.message).toContain('stages are computed again');
  });
});

describe('the size of all results', () => {
  test('stays within the limit: the least recently used are removed first', async () => {
    const shelf = makeShelf();
    const cache = shelf.open(2.5 * MIB);
    const stage = makeStage({ text: 'x'.repeat(MIB) });
    const run = async (key: string) => {
      shelf.clock.advance(1000);
      return (await shelf.share(cache).once(key, shelf.work(), stage.compute)).reused;
    };
    expect([await run('a'), await run('b'), await run('a'), await run('c')]).toEqual([
      ...[false, false, true, false],
    ]);
    expect([await run('a'), await run('c')]).toEqual([true, true]);
    expect(await run('b')).toBe(false);
    expect(shelf.kept()).toHaveLength(2);
  });

  test('excludes a result that alone exceeds it', async () => {
    const shelf = makeShelf();
    const cache = shelf.open(MIB / 2);
    const stage = makeStage({ text: 'x'.repeat(MIB) });
    const done = await shelf.share(cache).once('stage', shelf.work(), stage.compute);
    expect(textOf(done)).toHaveLength(MIB);
    expect(shelf.kept()).toEqual([]);
  });

  test('can be reduced to that of texts, which need little space but may have cost money', async () => {
    const shelf = makeShelf();
    const cache = shelf.open();
    expect(await cache.empty()).toBe(false);
    await shelf.share(cache).once('stage', shelf.work(), makeStage().compute);
    const translate = async () => ({ lines: ['hola'] });
    await shelf.share(cache).once('text', shelf.work(), translate);
    expect([await cache.empty(), await cache.empty()]).toEqual([true, false]);
    expect(shelf.kept()).toEqual([]);
    const again = await shelf.share(cache).once('text', shelf.work(), translate);
    expect(again).toEqual({ result: { lines: ['hola'] }, reused: true });
  });
});

describe('jobs that ask for a stage at the same time', () => {
  test('wait for one computation, and see its progress', async () => {
    const shelf = makeShelf();
    const cache = shelf.open();
    const gate = Promise.withResolvers<void>();
    const { compute, signals } = makeStage({ gate: gate.promise });
    const works = [shelf.work(), shelf.work(), shelf.work()];
    const running = works.map((work) => shelf.share(cache).once('stage', work, compute));
    await until(
      () => works.at(-1)?.reports.length,
      (count) => count === 1,
    );
    gate.resolve();
    const done = await Promise.all(running);
    expect(done.map(({ reused }) => reused).sort()).toEqual([false, true, true]);
    expect(done.map(textOf)).toEqual(['sound', 'sound', 'sound']);
    expect(signals).toHaveLength(1);
    expect(shelf.kept()).toHaveLength(1);
  });

  test('lose nothing if the first is cancelled', async () => {
    const shelf = makeShelf();
    const cache = shelf.open();
    const gate = Promise.withResolvers<void>();
    const { compute, signals } = makeStage({ gate: gate.promise });
    const stop = new AbortController();
    const first = shelf.share(cache).once('stage', shelf.work(stop.signal), compute);
    const cancelled = expect(first).rejects.toThrow('cancelled');
    await until(() => signals.length === 1);
    const work = shelf.work();
    const second = shelf.share(cache).once('stage', work, compute);
    await until(() => work.reports.length === 1);
    let left = false;
    first.catch(() => {
      left = true;
    });
    stop.abort(new Error('cancelled'));
    await new Promise(setImmediate);
    // Its files may be read until the end.
    expect(left).toBe(false);
    gate.resolve();
    expect(textOf(await second)).toBe('sound');
    await cancelled;
    expect([signals.length, signals[0]?.aborted]).toEqual([1, false]);
  });

  test('stop the computation when all are cancelled; the next job starts again', async () => {
    const shelf = makeShelf();
    const cache = shelf.open();
    const held = makeStage({ gate: new Promise<void>(() => {}) });
    const stop = new AbortController();
    const running = [shelf.work(stop.signal), shelf.work(stop.signal)].map((work) =>
      shelf.share(cache).once('stage', work, held.compute),
    );
    await until(() => held.signals.length === 1);
    stop.abort(new Error('cancelled'));
    const ended = await Promise.allSettled(running);
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(held.signals[0]?.aborted).toBe(true);
    expect(shelf.kept()).toEqual([]);
    const { compute } = makeStage();
    expect((await shelf.share(cache).once('stage', shelf.work(), compute)).reused).toBe(false);
  });

  test('all fail with its failure, and the next job starts again', async () => {
    const shelf = makeShelf();
    const cache = shelf.open();
    const fail = async () => {
      throw new Error('the server is down');
    };
    const running = [1, 2].map(() => shelf.share(cache).once('stage', shelf.work(), fail));
    const ended = await Promise.allSettled(running);
    expect(ended.map((end) => end.status === 'rejected' && String(end.reason))).toEqual([
      'Error: the server is down',
      'Error: the server is down',
    ]);
    expect((await shelf.share(cache).once('stage', shelf.work(), makeStage().compute)).reused).toBe(false);
  });

  test('in another process wait for the first process', async () => {
    const shelf = makeShelf();
    const gate = Promise.withResolvers<void>();
    const { compute, signals } = makeStage({ gate: gate.promise });
    const first = shelf.share(shelf.open()).once('stage', shelf.work(), compute);
    await until(() => signals.length === 1);
    let waits = 0;
    const other = shelf.open().forJob({
      keyId: 'key',
      expiresAt: shelf.clock.now() + DAY_MS,
      lend: (wait) => {
        waits += 1;
        return wait();
      },
    });
    const second = other.once('stage', shelf.work(), compute);
    await until(() => waits === 1);
    gate.resolve();
    await first;
    shelf.clock.advance(1000);
    expect([(await second).reused, signals.length]).toEqual([true, 1]);
  });

  test('in another process leave time to renew the claim if the machine was suspended', async () => {
    const shelf = makeShelf();
    const gate = Promise.withResolvers<void>();
    const { compute, signals } = makeStage({ gate: gate.promise });
    const owning = shelf.open();
    const first = shelf.share(owning).once('stage', shelf.work(), compute);
    await until(() => signals.length === 1);
    const clock = createMovableClock();
    const waiting = shelf.open(100 * MIB, clock);
    const waits = Promise.withResolvers<void>();
    const lend = <T>(wait: () => Promise<T>) => {
      waits.resolve();
      return wait();
    };
    const expiresAt = clock.now() + DAY_MS;
    const second = waiting.forJob({ keyId: 'key', expiresAt, lend }).once('stage', shelf.work(), compute);
    await waits.promise;
    // The process that waits wakes up first, and even sweeps.
    clock.advance(DAY_MS / 2);
    await waiting.sweep(clock.now());
    await new Promise(setImmediate);
    shelf.clock.advance(DAY_MS / 2);
    clock.advance(3_000);
    await new Promise(setImmediate);
    expect(signals).toHaveLength(1);
    gate.resolve();
    await first;
    clock.advance(1_000);
    expect([(await second).reused, signals.length]).toEqual([true, 1]);
  });

  test('take over from a process that died', async () => {
    const shelf = makeShelf();
    const dead = shelf.open();
    const held = makeStage({ gate: new Promise<void>(() => {}) });
    void shelf
      .share(dead)
      .once('stage', shelf.work(), held.compute)
      .catch(() => {});
    await until(() => held.signals.length === 1);
    // It renews its claim no more.
    dead.close();
    const { compute } = makeStage();
    const second = shelf.share(shelf.open()).once('stage', shelf.work(), compute);
    shelf.clock.advance(14_000);
    shelf.clock.advance(2_000);
    expect((await second).reused).toBe(false);
  });
});

test('a path outside the folder of a stage is refused', async () => {
  const shelf = makeShelf();
  const outside = async (work: Work) => ({ path: `${work.folder}/../elsewhere.wav` });
  await expect(shelf.share(shelf.open()).once('stage', shelf.work(), outside)).rejects.toThrow(
    'outside its folder',
  );
});
