import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type Holder,
  judgeHolder,
  type Machine,
  parseHolder,
  thisMachine,
} from '../../../src/batch/records/machine.ts';

const machine: Machine = {
  pid: 1,
  boot: 'boot-a',
  host: 'desk',
  pid_space: 'pid:[1]',
  look: (pid) => (pid === 10 ? { state: 'running', started: '500' } : { state: 'gone' }),
};
const holder: Holder = {
  pid: 10,
  started: '500',
  boot: 'boot-a',
  host: 'desk',
  pid_space: 'pid:[1]',
  token: 't',
  since: '2026-11-21T08:00:00.000Z',
};

describe('the holder of a lock', () => {
  it.each<[string, Partial<Holder>, Partial<Machine>, string]>([
    ['runs if pid and start match', {}, {}, 'running'],
    ['has ended if its pid does not exist', { pid: 11 }, {}, 'gone'],
    ['has ended if another process has its pid', { started: '400' }, {}, 'gone'],
    ['has ended if the machine was restarted', { boot: 'boot-b' }, {}, 'gone'],
    ['runs if the machine only changed its name', { host: 'desk.local' }, {}, 'running'],
    ['cannot be checked on another machine', { host: 'shelf', boot: 'boot-b' }, {}, 'elsewhere'],
    [
      'cannot be checked on another machine without a boot id',
      { host: 'shelf', boot: null },
      {},
      'elsewhere',
    ],
    ['cannot be checked from another container', { pid_space: 'pid:[2]' }, {}, 'unclear'],
    ['cannot be checked without its start', { started: null }, {}, 'unclear'],
    [
      'cannot be checked if the system reports no start',
      { started: null, boot: null },
      { boot: null, look: () => ({ state: 'running', started: null }) },
      'unclear',
    ],
    ['has ended if only pids are known and it has none', { pid: 11, boot: null }, { boot: null }, 'gone'],
  ])('%s', (_what, held, here, verdict) => {
    expect(judgeHolder({ ...holder, ...held }, { ...machine, ...here })).toBe(verdict);
  });

  it.each(['{', '[]', '{"pid":"1"}', 'null'])('is not read from %j', (text) => {
    expect(parseHolder(text)).toBeNull();
  });
});

describe('this machine', () => {
  it('recognizes its own process as running, and no process that has ended', async () => {
    const here = thisMachine();
    expect(here.look(process.pid)).toMatchObject({ state: 'running' });
    const child = spawn('true');
    await once(child, 'exit');
    expect(here.look(child.pid ?? 0)).toEqual({ state: 'gone' });
  });

  it('sees the processes of other users', () => {
    expect(thisMachine().look(1)).toMatchObject({ state: 'running' });
  });

  it.runIf(process.platform === 'linux')('distinguishes processes by their start (Linux)', async () => {
    const here = thisMachine();
    const ticks = Number(
      here.look(process.pid).state === 'running' &&
        readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ')[19],
    );
    expect(here.look(process.pid)).toEqual({ state: 'running', started: String(ticks) });
    expect(here.boot).toMatch(/^[0-9a-f-]{36}$/);
    expect(here.pid_space).toMatch(/^pid:\[\d+\]$/);
  });
});
