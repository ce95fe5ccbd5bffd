import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { usageFailure } from '../../base/failure.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { presentLine } from '../context/output/presentation.ts';

/** The script file of each shell. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: 'vloc.bash',
  zsh: '_vloc',
  fish: 'vloc.fish',
  powershell: 'vloc.ps1',
};
const SHELLS = Object.keys(SCRIPTS);

const SCRIPT = [v.object({ shell: v.string(), script: v.string() })];

const COMPLETION_SCRIPT = { json: SCRIPT, ndjson: SCRIPT };

export const completion: Command = defineCommand({
  operands: { name: 'shell', count: 'one', choices: SHELLS, help: SHELLS.join(', ') },
  options: {},
  examples: [
    {
      command: 'source <(vloc completion bash)',
      explains: 'bash, for this session; put the line into ~/.bashrc to keep it',
    },
    {
      command: 'vloc completion zsh > "$' + '{fpath[1]}/_vloc"',
      explains: 'zsh, with compinit in ~/.zshrc; then start a new shell',
    },
    {
      command: 'vloc completion fish > ~/.config/fish/completions/vloc.fish',
      explains: 'fish',
    },
    {
      command: 'vloc completion powershell | Out-String | Invoke-Expression',
      explains: 'PowerShell; put the line into the file $PROFILE to keep it',
    },
  ],
  notes: ['The script requests everything from vloc when you press Tab, which looks on this machine only.'],
  prints: COMPLETION_SCRIPT,
  run: async ({ present }, [shell = '']) => {
    const name = SCRIPTS[shell];
    if (name === undefined) {
      throw usageFailure(
        'UNKNOWN_SHELL',
        `there is no completion for "${shell}"`,
        `Shells: ${SHELLS.join(', ')}.`,
      );
    }
    const script = await readFile(new URL(name, scriptFolder()), 'utf8');
    await present.show(presentLine({ shell, script }, script.trimEnd()));
    return 0;
  },
});

/** The scripts are beside `src` and `dist`: this file is deeper in the sources than in the bundle. */
function scriptFolder(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(isSource ? '../../../completions/' : '../completions/', import.meta.url);
}
