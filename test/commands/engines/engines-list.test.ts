import { beforeEach, describe, expect, it } from 'vitest';
import { startServer } from '../../engines/backends/loopback-server.ts';
import { pathWithout } from '../../support/path-without.ts';
import { type EnginesDesk, openEnginesDesk } from '../support/run-engines.ts';

let desk: EnginesDesk;
beforeEach(async () => {
  desk = await openEnginesDesk();
});

describe('vloc engines list', () => {
  it('shows what is installed or missing and the built-in engines in use, and how to install and add others', async () => {
    const { code, stdout, stderr } = await desk.run(['list'], { PATH: pathWithout('flite') });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ENGINE +STATE +STEPS +WHAT FOR\nffmpeg +installed/);
    expect(stdout).toMatch(/flite +missing +speak +speaks English/);
    expect(stdout).toMatch(
      /USED FOR +# +ENGINE +LANGUAGES +REACHABLE\nrecognize +1 +pocketsphinx +English +yes\n/,
    );
    expect(stdout).toMatch(/speak +1 +flite +- +no: flite is not installed/);
    expect(stdout).toMatch(/speak +2 +espeak-ng +Afrikaans, Amharic, .* and \d+ more +yes/);
    expect(stdout).toMatch(/separate +1 +builtin +- +yes/);
    expect(stderr).toContain('Install what is missing with: vloc engines install --to en\n');
    expect(stderr).toContain('Use better engines: vloc engines add --help');
  });

  it('shows configured engines in their order, with their languages and errors, the same for programs, and never a key', async () => {
    const languages = [
      { code: 'en', targets: ['es', 'en'] },
      { code: 'es', targets: [] },
    ];
    const server = await startServer(() => ({ body: languages }));
    const url = server.url.replace('/v1', '');
    await desk.configure({
      recognize: [
        { type: 'openai', url: 'http://127.0.0.1:1/v1', model: 'large', key: { env: 'ASR_KEY' } },
        { type: 'openai', url: 'http://127.0.0.1:1/v1', model: 'large' },
        'pocketsphinx',
      ],
      translate: [
        { type: 'openai', url: server.url, model: 'qwen', languages: ['en', 'es', 'fr', 'de'] },
        { type: 'libretranslate', url, key: { env: 'LT_KEY' } },
      ],
      separate: [{ type: 'command', run: ['nonesuch', '{input}', '{out}'], vocals: 'v', background: 'b' }],
    });
    const env = { LT_KEY: 'canary' };
    const { code, stdout, stderr } = await desk.run(['list'], env);
    expect(code).toBe(0);
    const rows = stdout.split('\n').map((row) => row.replaceAll(/ {2,}/g, ' | '));
    expect(rows).toEqual(
      expect.arrayContaining([
        'recognize | 1 | openai large | - | no: the variable ASR_KEY with its key is not set',
        'recognize | 2 | openai large | - | no: 127.0.0.1 port 1 refuses connections',
        'recognize | 3 | pocketsphinx | English | yes',
        'translate | 1 | openai qwen | English, Spanish, French, German, each to each | yes',
        'translate | 2 | libretranslate | English to Spanish | yes',
        'separate | 1 | command nonesuch | - | no: there is no program nonesuch',
      ]),
    );
    expect(stderr).not.toContain('Use better engines');
    const json = await desk.run(['list', '-o', 'json'], env);
    expect(stdout + stderr + json.stdout + json.stderr).not.toContain('canary');
    const { file, used } = JSON.parse(json.stdout);
    expect(file).toBe(desk.file);
    expect(used[1]).toEqual({
      step: 'recognize',
      position: 2,
      engine: 'openai large',
      languages: [],
      problem: '127.0.0.1 port 1 refuses connections',
      fix: 'Start the server, or correct its url.',
    });
  });
});
