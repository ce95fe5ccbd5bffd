import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ChildFailure, ProgramMissing } from '../../../src/media/programs/failures.ts';
import { createPrograms } from '../../../src/media/programs/programs.ts';
import { isAlive } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

const programs = createPrograms(process.env.PATH ?? '');

const signal = new AbortController().signal;

describe('running a program', () => {
  test('returns its stdout and passes it text on stdin', async () => {
    const stdout = await programs.run('cat', [], {
      signal,
      folder: makeFolder(),
      stdin: { text: 'olé' },
    });
    expect(stdout.toString('utf8')).toBe('olé');
  });

  test('shows the child nothing of our environment', async () => {
    process.env.VLOC_SECRET = 'canary';
    const folder = makeFolder();
    const stdout = await programs.run('env', [], { signal, folder });
    delete process.env.VLOC_SECRET;
    const names = stdout
      .toString('utf8')
      .split('\n')
      .map((line) => line.split('=')[0]);
    expect(names).not.toContain('VLOC_SECRET');
    expect(names).not.toContain('HOME');
    expect(stdout.toString('utf8')).toContain(`TMPDIR=${folder}\n`);
  });

  test('passes a program of the user all its variables', async () => {
    const folder = makeFolder();
    const env = { HOME: '/home/me', LC_ALL: 'C', TMPDIR: '/elsewhere' };
    const stdout = await programs.run('env', [], { signal, folder, env });
    const lines = stdout.toString('utf8').split('\n');
    expect(lines).toEqual(expect.arrayContaining(['HOME=/home/me', 'LC_ALL=C', `TMPDIR=${folder}`]));
    expect(lines).not.toContain('LANG=C.UTF-8');
    const bare = await programs.run('env', [], { signal, folder, env: {} });
    expect(bare.toString('utf8')).toContain('LANG=C.UTF-8');
  });

  test.each([
    ['a program of the user', {}],
    ['an engine', undefined],
  ])('ends what %s left running', async (_name, env) => {
    const args = ['-c', '(trap "" TERM; sleep 60) & echo $!; exit 3'];
    const pids: number[] = [];
    const options = {
      signal,
      folder: makeFolder(),
      ...(env === undefined ? {} : { env }),
      onLine: (line: string) => pids.push(Number(line)),
    };
    await expect(programs.run('bash', args, options)).rejects.toThrow('exit code 3');
    expect(pids).toHaveLength(1);
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });

  test('does not wait for a process that moved to a group of its own', async () => {
    const script =
      'setsid sh -c "echo > left; exec sleep 60" & until [ -e left ]; do sleep 0.01; done; echo $!';
    const args = ['-c', script];
    const options = { signal, folder: makeFolder(), env: {} };
    const pid = Number((await programs.run('bash', args, options)).toString());
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
  });

  test('fails with the exit code and the last lines of stderr', async () => {
    const script = 'for i in 1 2 3 4 5 6; do echo "line $i" >&2; done; exit 3';
    const failure = await programs
      .run('sh', ['-c', script], { signal, folder: makeFolder() })
      .catch((e) => e);
    expect(failure).toBeInstanceOf(ChildFailure);
    expect(failure.exitCode).toBe(3);
    expect(failure.lastWords).toBe('line 3\nline 4\nline 5\nline 6');
  });

  test('keeps little of what a program says at its end', async () => {
    const script = 'yes | head -c 3000000 | tr -d "\\n" >&2; echo >&2; printf "last\\r" >&2; exit 3';
    const options = { signal, folder: makeFolder() };
    const failure = await programs.run('sh', ['-c', script], options).catch((e) => e);
    expect(failure.lastWords).toBe(`${'y'.repeat(500)}\nlast`);
  });

  test('ends a program that does not end its line', async () => {
    const onLine = () => {};
    const script = 'trap "" TERM; yes | tr -d "\\n"; echo ended > end';
    for (const options of [{ onLine }, { onErrorLine: onLine }]) {
      const folder = makeFolder();
      const output = options.onErrorLine === undefined ? script : `exec >&2; ${script}`;
      const run = programs.run('sh', ['-c', output], { signal, folder, ...options });
      await expect(run).rejects.toThrow('its output is over the limit');
      // It ends because its output does.
      expect(existsSync(join(folder, 'end'))).toBe(true);
    }
  });

  test('names a program that is not installed', async () => {
    const failure = await programs
      .run('no-such-engine', [], { signal, folder: makeFolder() })
      .catch((e) => e);
    expect(failure).toBeInstanceOf(ProgramMissing);
    expect(failure.program).toBe('no-such-engine');
  });

  test('finds programs only in the folders it was given', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'mine'), '#!/bin/sh\necho found\n');
    chmodSync(join(folder, 'mine'), 0o755);
    const own = createPrograms(folder);
    expect(own.locate('ffmpeg')).toBeNull();
    expect((await own.run('mine', [], { signal, folder })).toString()).toBe('found\n');
  });

  test('ends a child that writes more than it should', async () => {
    const run = programs.run('yes', [], { signal, folder: makeFolder(), maxStdoutBytes: 10_000 });
    await expect(run).rejects.toThrow('its output is over the limit');
  });

  test('reads what a program prints for the same, whether it fails or not', async () => {
    const options = { signal, folder: makeFolder(), maxStdoutBytes: 64 * 1024 ** 2 };
    const print = async (code: number) => {
      const before = process.cpuUsage();
      const words = ['-c', `head -c 20000000 /dev/zero; exit ${code}`];
      const failed = await programs.run('sh', words, options).then(
        () => false,
        () => true,
      );
      expect(failed).toBe(code !== 0);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const ended = await print(0);
    // A message made of all of it took twenty times as long.
    expect(await print(3)).toBeLessThan(5 * ended);
  });

  test('passes lines on as they arrive, without collecting them', async () => {
    const lines: string[] = [];
    // The last character comes in two pieces.
    const args = ['-c', 'printf "one\\r\\n\\ntwo\\r\\rthree\\n\\303"; sh -c "printf \'\\274\'"'];
    const options = { signal, folder: makeFolder(), onLine: (line: string) => lines.push(line) };
    expect(await programs.run('sh', args, options)).toHaveLength(0);
    expect(lines).toEqual(['one', 'two', 'three', 'ü']);
  });

  test('fails with what a reader of lines throws first, and ends the child and its output', async () => {
    const folder = makeFolder();
    const lines: string[] = [];
    const onLine = (line: string) => {
      lines.push(line);
      throw new RangeError('unexpected line');
    };
    // Ends only because its output does.
    const run = programs.run('sh', ['-c', 'trap "" TERM; yes; echo ended > end'], { signal, folder, onLine });
    await expect(run).rejects.toThrow('unexpected line');
    expect(lines).toEqual(['y']);
    expect(existsSync(join(folder, 'end'))).toBe(true);
  });

  test.runIf(programs.locate('prlimit'))('limits a child', async () => {
    const limits = { memoryBytes: 512 * 1024 ** 2, cpuSeconds: 7 };
    const options = { signal, folder: makeFolder(), limits };
    const stdout = await programs.run('sh', ['-c', 'ulimit -v; ulimit -t; ulimit -c'], options);
    expect(stdout.toString().split('\n').slice(0, 3)).toEqual([String(512 * 1024), '7', '0']);
  });
});

describe('cancelling', () => {
  test('ends a whole pipeline, also one that ignores SIGTERM', async () => {
    const pids: number[] = [];
    const stop = new AbortController();
    const script =
      'trap "" TERM; sleep 60 & echo $!; (trap "" TERM; sleep 61) & echo $!; echo $$; wait; wait; sleep 62';
    const run = programs.run('bash', ['-c', script], {
      signal: stop.signal,
      folder: makeFolder(),
      onLine: (line) => pids.push(Number(line)),
    });
    await expect.poll(() => pids.length).toBe(3);
    stop.abort(new Error('enough'));
    await expect(run).rejects.toThrow('enough');
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });

  test('starts nothing once cancelled', async () => {
    const folder = makeFolder();
    const run = programs.run('touch', ['made'], { signal: AbortSignal.abort(new Error('before')), folder });
    await expect(run).rejects.toThrow('before');
    expect(existsSync(join(folder, 'made'))).toBe(false);
  });

  test('starts nothing if it is cancelled just after the call', async () => {
    const folder = makeFolder();
    const stop = new AbortController();
    const run = programs.run('touch', ['made'], { signal: stop.signal, folder });
    stop.abort(new Error('at once'));
    await expect(run).rejects.toThrow('at once');
    expect(existsSync(join(folder, 'made'))).toBe(false);
  });
});

describe('children of a process that dies', () => {
  /** Starts a process that runs `sleep` as a child, ends it as requested, and returns the child's id. */
  async function orphan(end: string): Promise<number> {
    const folder = makeFolder();
    const source = new URL('../../../src/media/programs/programs.ts', import.meta.url).href;
    const script = `
      import { writeSync } from 'node:fs';
      const { createPrograms } = await import(${JSON.stringify(source)});
      const programs = createPrograms(process.env.PATH);
      const onLine = (line) => { writeSync(1, line); ${end} };
      const options = { signal: new AbortController().signal, folder: ${JSON.stringify(folder)}, onLine };
      await programs.run('sh', ['-c', 'echo $$; exec sleep 60'], options);`;
    let stdout = '';
    try {
      stdout = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    } catch (error) {
      // A process that a signal has ended leaves its output on the error.
      if (error instanceof Error && 'stdout' in error) stdout = String(error.stdout);
    }
    return Number(stdout);
  }

  test('end with it when it exits', async () => {
    const pid = await orphan('process.exit(0)');
    expect(pid).toBeGreaterThan(0);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  test.runIf(programs.locate('setpriv'))('end with it when it is killed', async () => {
    const pid = await orphan("process.kill(process.pid, 'SIGKILL')");
    expect(pid).toBeGreaterThan(0);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});
