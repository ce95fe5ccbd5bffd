import { describe, expect, it } from 'vitest';
import { COMMAND_ROWS } from '../../src/commands/tree.ts';
import { runMain, startMain } from '../support/run-main.ts';

async function run(...argv: string[]) {
  return runMain(argv);
}

describe('vloc without a command', () => {
  it('shows the help on stdout and succeeds', async () => {
    const { code, stdout, stderr } = await run();
    expect(code).toBe(0);
    expect(stderr).toBe('');
    for (const row of COMMAND_ROWS) expect(stdout).toContain(`${row.name} `);
  });
});

describe('vloc help', () => {
  it('shows the same for `localize --help` and `help localize`', async () => {
    const asked = await run('localize', '--help');
    expect(asked.code).toBe(0);
    expect((await run('help', 'localize')).stdout).toBe(asked.stdout);
  });

  it('wraps the meanings of variables to 80 columns, below each other', async () => {
    const { stdout } = await run('help', 'environment');
    const rows = stdout.trimEnd().split('\n');
    expect(rows.filter((row) => row.length > 80)).toEqual([]);
    expect(stdout).toMatch(/^ {20,}\S/m);
  });

  it('lists the available topics if it does not know one', async () => {
    const { code, stderr } = await run('help', 'weather');
    expect(code).toBe(2);
    expect(stderr).toContain('exit-codes, environment');
  });
});

it('a second signal exits immediately, except SIGHUP, and the exit code of the run is that of the first', async () => {
  const running = startMain(['credits'], {
    env: { VLOC_BASE_URL: 'https://api.invalid/v1', VLOC_KEY: 'k', VLOC_SECRET: 's' },
  });
  // A terminal that closes sends it twice, and systemd after its SIGTERM.
  running.send('SIGHUP');
  running.send('SIGHUP');
  expect(running.abandoned).toEqual([]);
  running.send('SIGTERM');
  running.send('SIGINT');
  expect(running.abandoned).toEqual([143, 130]);
  expect(await running.ended).toEqual({ code: 129, stdout: '', stderr: '' });
});

describe('local checks', () => {
  it('report everything that is wrong together, before anything is sent', async () => {
    const words = ['localize', 'missing.mp4', 'http://example.com/a.mp4', '--to', 'nonsense_tag'];
    const { code, stderr } = await runMain(words, { env: { VLOC_STATE_DIR: '/nonexistent/never/made' } });
    expect(code).toBe(2);
    for (const said of [
      '3 problems found; nothing was sent',
      'missing.mp4: there is no such file',
      'https addresses only',
      '--to: not a BCP 47 language tag: nonsense_tag',
    ]) {
      expect(stderr).toContain(said);
    }
  });
});
