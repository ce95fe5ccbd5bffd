import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { scriptPath } from '../../docs/completions/desk.ts';
import { runMain } from '../../support/run-main.ts';

const run = (...argv: string[]) => runMain(['completion', ...argv]);

describe('vloc completion SHELL', () => {
  it.each([
    ['bash', 'vloc.bash'],
    ['zsh', '_vloc'],
    ['fish', 'vloc.fish'],
    ['powershell', 'vloc.ps1'],
  ])('prints for %s the committed script', async (shell, file) => {
    expect(await run(shell)).toEqual({ code: 0, stdout: readFileSync(scriptPath(file), 'utf8'), stderr: '' });
  });

  it('prints one object if JSON is requested', async () => {
    const { stdout } = await run('fish', '-o', 'json');
    expect(JSON.parse(stdout)).toEqual({
      shell: 'fish',
      script: readFileSync(scriptPath('vloc.fish'), 'utf8'),
    });
  });
});
