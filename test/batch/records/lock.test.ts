import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  attemptLock,
  inspectLock,
  type LockEnvironment,
  SYSTEM,
  tryLock,
  type Watched,
} from '../../../src/batch/records/lock.ts';
import { type Holder, thisMachine } from '../../../src/batch/records/machine.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { startChild } from './support/child.ts';

const newLockPath = () => join(makeFolder(), 'state', 'lock');
const { pid, boot, host, pid_space } = thisMachine();
const self = thisMachine().look(pid);
const started = self.state === 'running' ? self.started : null;

/** A lock file of this machine, as somebody left it. */
function leaveLock(path: string, holder: Partial<Holder>): void {
  const since = new Date().toISOString();
  writeFileSync(
    path,
    JSON.stringify({ pid, started, boot, host, pid_space, token: 'left', since, ...holder }),
  );
}

const isTaken = async (path: string, around?: LockEnvironment) => (await tryLock(path, around)).taken;

describe('a lock', () => {
  it('is held by one at a time, and free again when released', async () => {
    const path = newLockPath();
    const first = await tryLock(path);
    expect(first.taken).toBe(true);
    expect(await tryLock(path)).toMatchObject({ taken: false, holder: { pid }, isElsewhere: false });
    if (first.taken) await first.lock.release();
    expect(readdirSync(join(path, '..'))).toEqual([]);
    expect(await isTaken(path)).toBe(true);
  });

  it('is readable by its owner only, whatever the umask', async () => {
    const path = newLockPath();
    const before = process.umask(0);
    try {
      expect(await isTaken(path)).toBe(true);
    } finally {
      process.umask(before);
    }
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
  });

  it('released twice is not taken from the next one', async () => {
    const path = newLockPath();
    const first = await tryLock(path);
    if (first.taken) await first.lock.release();
    expect(await isTaken(path)).toBe(true);
    if (first.taken) await first.lock.release();
    expect(await isTaken(path)).toBe(false);
  });

  it('released after somebody else took it over does not affect theirs', async () => {
    const path = newLockPath();
    const first = await tryLock(path);
    leaveLock(path, { token: 'another' });
    if (first.taken) await first.lock.release();
    expect(readFileSync(path, 'utf8')).toContain('another');
  });
});

describe('the heartbeat of a lock', () => {
  const takeWithHeart = async () => {
    const path = newLockPath();
    const beats: (() => void)[] = [];
    const repeat = (_: number, work: () => void) => {
      beats.push(work);
      return () => void beats.pop();
    };
    const attempt = await tryLock(path, { ...SYSTEM, repeat });
    if (!attempt.taken) throw new Error('the lock is free');
    return { path, beats, lock: attempt.lock };
  };

  it('keeps the file young while the lock is held', async () => {
    const { path, beats, lock } = await takeWithHeart();
    utimesSync(path, 0, 0);
    beats[0]?.();
    await expect.poll(() => statSync(path).mtimeMs).toBeGreaterThan(0);
    expect([lock.lost.aborted, lock.isHeld()]).toEqual([false, true]);
  });

  it.each([
    ['taken over by another', (path: string) => leaveLock(path, { token: 'another' })],
    ['taken over and released', (path: string) => rmSync(path)],
    ['damaged', (path: string) => writeFileSync(path, '')],
  ])('finds that the lock was %s, says so and stops', async (_, change) => {
    const { path, beats, lock } = await takeWithHeart();
    change(path);
    expect(lock.isHeld()).toBe(false);
    beats[0]?.();
    await expect.poll(() => lock.lost.aborted).toBe(true);
    expect(beats).toEqual([]);
  });

  it('reports nothing about a released lock', async () => {
    const { beats, lock } = await takeWithHeart();
    const late = beats[0];
    await lock.release();
    late?.();
    expect(lock.isHeld()).toBe(false);
    expect([lock.lost.aborted, beats.length]).toEqual([false, 0]);
  });
});

describe('a lock left behind', () => {
  it('by a process that was killed is taken over immediately', async () => {
    const path = newLockPath();
    const child = startChild();
    expect(await child.ask(path)).toBe('taken');
    expect(await isTaken(path)).toBe(false);
    await child.kill();
    const neverWaits: LockEnvironment = { ...SYSTEM, sleep: () => Promise.reject(new Error('waited')) };
    expect(await isTaken(path, neverWaits)).toBe(true);
    expect(readdirSync(join(path, '..'))).toEqual(['lock']);
  });

  it('by a process that died while taking over is taken over too', async () => {
    const path = join(makeFolder(), 'lock');
    for (const name of [path, `${path}.takeover`]) leaveLock(name, { pid: 2 ** 22 + 1 });
    expect(await isTaken(path)).toBe(true);
    expect(readdirSync(join(path, '..'))).toEqual(['lock']);
  });
});

/** Time passes by the hand of the test, on both clocks; what happens during a sleep is up to it. */
function surroundings(laterMs: number, duringSleep: () => void): LockEnvironment {
  let slept = 0;
  return {
    machine: SYSTEM.machine,
    now: () => Date.now() + laterMs + slept,
    elapsed: () => slept,
    sleep: async (ms) => {
      slept += ms;
      duringSleep();
    },
    repeat: SYSTEM.repeat,
  };
}

describe('a lock that was left on another machine', () => {
  const HOUR = 3_600_000;
  const leave = () => {
    const path = join(makeFolder(), 'lock');
    leaveLock(path, { host: 'shelf', boot: 'another', pid: 2 ** 22 + 1 });
    return path;
  };

  it('three days ago is taken over after a few seconds without a heartbeat', async () => {
    const slept: number[] = [];
    const path = leave();
    expect(
      await isTaken(
        path,
        surroundings(72 * HOUR, () => slept.push(1)),
      ),
    ).toBe(true);
    expect(slept).toHaveLength(1);
    expect(readdirSync(join(path, '..'))).toEqual(['lock']);
  });

  it('is not taken over while it has a heartbeat, however wrong its clock is', async () => {
    for (const wrongMs of [-72 * HOUR, 72 * HOUR]) {
      const path = leave();
      let beats = 0;
      const beat = () => {
        beats += 1;
        utimesSync(path, 0, (Date.now() + wrongMs) / 1000 + beats);
      };
      beat();
      expect(await tryLock(path, surroundings(0, beat))).toMatchObject({
        taken: false,
        isElsewhere: true,
        holder: { host: 'shelf' },
      });
    }
  });

  it('just now is not taken over, and refused without a wait', async () => {
    const neverWaits = surroundings(0, () => expect.unreachable());
    expect(await tryLock(leave(), neverWaits)).toMatchObject({ taken: false, isElsewhere: true });
  });

  it('is taken over after a minute without a heartbeat, whatever the clocks say', async () => {
    const path = leave();
    utimesSync(path, 0, (Date.now() + 72 * HOUR) / 1000);
    const watched: Watched = new Map();
    const around = surroundings(0, () => {});
    expect(await attemptLock(path, watched, around)).toMatchObject({ taken: false, judgedInMs: 60_000 });
    await around.sleep(59_999);
    expect(await attemptLock(path, watched, around)).toMatchObject({ taken: false, judgedInMs: 1 });
    await around.sleep(1);
    expect(await attemptLock(path, watched, around)).toMatchObject({ taken: true });
  });

  it('counts the minute from the last heartbeat', async () => {
    const path = leave();
    const watched: Watched = new Map();
    const around = surroundings(0, () => {});
    await attemptLock(path, watched, around);
    await around.sleep(59_000);
    utimesSync(path, 0, Date.now() / 1000 + 7);
    expect(await attemptLock(path, watched, around)).toMatchObject({ judgedInMs: 60_000 });
  });
});

describe('inspecting a lock', () => {
  it('changes nothing, and distinguishes a stale one from one that is held', async () => {
    const path = join(makeFolder(), 'lock');
    expect(await inspectLock(path)).toBeNull();
    leaveLock(path, {});
    expect(await inspectLock(path)).toMatchObject({ isStale: false, holder: { pid } });
    leaveLock(path, { pid: 2 ** 22 + 1 });
    expect(await inspectLock(path)).toMatchObject({ isStale: true });
    leaveLock(path, { host: 'shelf', boot: 'another' });
    expect(await inspectLock(path)).toMatchObject({ isStale: false });
    utimesSync(path, 0, 0);
    expect(await inspectLock(path)).toMatchObject({ isStale: true, beatMs: 0 });
    expect(readdirSync(join(path, '..'))).toEqual(['lock']);
  });
});

describe('a lock whose holder cannot be checked', () => {
  const leave = () => {
    const path = join(makeFolder(), 'lock');
    leaveLock(path, { pid_space: 'another container' });
    return path;
  };

  it('is not taken over while it has a heartbeat, and refused without a wait', async () => {
    const neverWaits = surroundings(29_000, () => expect.unreachable());
    expect(await isTaken(leave(), neverWaits)).toBe(false);
  });

  it('is not taken over if its heartbeat returns, as after the sleep of a laptop', async () => {
    const lock = leave();
    const beat = () => utimesSync(lock, new Date(), new Date(Date.now() + 1_000));
    expect(await isTaken(lock, surroundings(31_000, beat))).toBe(false);
  });

  it('is taken over if it remains silent', async () => {
    expect(
      await isTaken(
        leave(),
        surroundings(31_000, () => {}),
      ),
    ).toBe(true);
  });
});

describe('a damaged lock file', () => {
  const leave = (text: string, mtimeMs = Date.now()) => {
    const path = join(makeFolder(), 'lock');
    writeFileSync(path, text);
    utimesSync(path, mtimeMs / 1000, mtimeMs / 1000);
    return path;
  };

  it.each([
    ['empty', ''],
    ['cut off', '{"pid":4711,"star'],
    ['zeros, as after a power failure', '\0'.repeat(200)],

    ['without the fields of a holder', '{"pid":1}'],
  ])(
    'that is %s is taken over once it has not changed for two heartbeats, whatever its age',
    async (_, text) => {
      for (const mtimeMs of [0, Date.now(), Date.now() + 72 * 3_600_000]) {
        const slept: number[] = [];
        const path = leave(text, mtimeMs);
        const around = surroundings(0, () => slept.push(1));
        expect([await isTaken(path, around), slept]).toEqual([true, [1]]);
        expect(readdirSync(join(path, '..'))).toEqual(['lock']);
      }
    },
  );

  it('beside a damaged takeover is taken over too', async () => {
    const path = leave('');
    writeFileSync(`${path}.takeover`, '');
    const around = surroundings(0, () => {});
    expect(await isTaken(path, around)).toBe(true);
    expect(readdirSync(join(path, '..'))).toEqual(['lock']);
  });

  it('is left to the process that completes it meanwhile', async () => {
    const path = leave('');
    const complete = () => leaveLock(path, {});
    expect(await tryLock(path, surroundings(0, complete))).toMatchObject({ taken: false, holder: { pid } });
  });

  it('is refused as damaged while somebody changes it', async () => {
    const path = leave('');
    const attempt = await tryLock(
      path,
      surroundings(0, () => writeFileSync(path, 'more')),
    );
    expect(attempt).toMatchObject({ taken: false, holder: null });
  });

  it('is stale for `vloc doctor`, also a moment after it was written', async () => {
    expect(await inspectLock(leave(''))).toMatchObject({ isStale: true, holder: null });
  });
});

describe('two processes', () => {
  it.each<[string, (path: string) => void]>([
    ['want a free lock', () => {}],
    ['want to take over a dead lock', (path) => leaveLock(path, { pid: 2 ** 22 + 1 })],
  ])('that %s at the same time: one gets it, in 4 of 4 pairs', async (_what, prepare) => {
    const [one, other] = [startChild(), startChild()];
    for (let pair = 0; pair < 4; pair += 1) {
      const path = join(makeFolder(), 'lock');
      prepare(path);
      const answers = await Promise.all([one.ask(path), other.ask(path)]);
      expect(answers.toSorted()).toEqual(['refused', 'taken']);
    }
  });
});
