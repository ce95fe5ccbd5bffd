import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createKey } from '../../../src/engines/backends/key.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { recordedParts } from './loopback-server.ts';
import { script } from './user-program.ts';

const SECRET = 'sk-0123456789abcdef';

function run(signal = new AbortController().signal) {
  return { signal, folder: makeFolder() };
}

describe('the key of a server', () => {
  it('is empty if the entry has none', async () => {
    const key = createKey(undefined, 'openai tiny', recordedParts());
    await expect(key.read(run())).resolves.toBeNull();
    expect(key.hide('text')).toBe('text');
  });

  it('is read from a variable', async () => {
    const key = createKey(
      { env: 'ASR_KEY' },
      'openai tiny',
      recordedParts({ env: { ASR_KEY: `${SECRET}\n` } }),
    );
    await expect(key.read(run())).resolves.toBe(SECRET);
    expect(key.hide(`Wrong key ${SECRET}!`)).toBe('Wrong key [key]!');
  });

  it.each([{}, { ASR_KEY: ' ' }])('that is missing is reported by the name of its variable', async (env) => {
    const key = createKey({ env: 'ASR_KEY' }, 'openai tiny', recordedParts({ env }));
    await expect(key.read(run())).rejects.toMatchObject({
      code: 'ENGINE_ERROR',
      permanent: true,
      message:
        'openai tiny: the variable ASR_KEY, which holds its key, is not set; set it where vloc runs, then try again',
    });
  });

  it.each([`${SECRET}\nX-Other: 1`, `${SECRET}é`])(
    'with characters that a header cannot contain is refused without being shown',
    async (value) => {
      const key = createKey({ env: 'ASR_KEY' }, 'openai tiny', recordedParts({ env: { ASR_KEY: value } }));
      const error: unknown = await key.read(run()).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ permanent: true, message: expect.stringContaining('variable ASR_KEY') });
      expect(String(error)).not.toContain('0123');
    },
  );

  it('is printed by a program, which runs once and has the variables of the user', async () => {
    const log = `${makeFolder()}/log`;
    const program = script(`echo "$STORE $VLOC_API_KEY $1" >> ${log}\necho ${SECRET}\necho`, 'vault');
    const env = { PATH: process.env.PATH, STORE: 'home', VLOC_API_KEY: 'private' };
    const key = createKey({ command: [program, 'asr'] }, 'openai tiny', recordedParts({ env }));
    await expect(key.read(run())).resolves.toBe(SECRET);
    await expect(key.read(run())).resolves.toBe(SECRET);
    expect(readFileSync(log, 'utf8')).toBe('home  asr\n');
  });

  it.each([
    [
      'fails',
      `echo ${SECRET}; echo ${SECRET} >&2; exit 3`,
      'vault, the program of "key" in engines.json, ended with exit code 3',
    ],
    ['prints nothing', 'true', 'printed nothing'],
  ])('of a program that %s is reported without what it printed', async (_, body, shown) => {
    const key = createKey({ command: [script(body, 'vault')] }, 'openai tiny', recordedParts());
    const error: unknown = await key.read(run()).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ permanent: true, message: expect.stringContaining(shown) });
    expect(String(error)).not.toContain(SECRET);
  });

  it('of a program that is not installed is reported', async () => {
    const key = createKey({ command: ['no-such-vault'] }, 'openai tiny', recordedParts());
    await expect(key.read(run())).rejects.toMatchObject({
      permanent: true,
      message: expect.stringContaining(
        'no-such-vault, the program of "key" in engines.json, is not installed',
      ),
    });
  });

  it('is read again after a failure', async () => {
    const marker = `${makeFolder()}/marker`;
    const program = script(`[ -e ${marker} ] && echo ${SECRET} && exit 0\ntouch ${marker}\nexit 1`, 'vault');
    const key = createKey({ command: [program] }, 'openai tiny', recordedParts());
    await expect(key.read(run())).rejects.toMatchObject({ permanent: true });
    await expect(key.read(run())).resolves.toBe(SECRET);
  });

  it('stops waiting for a program when the job is cancelled', async () => {
    const controller = new AbortController();
    const key = createKey({ command: [script('sleep 600', 'vault')] }, 'openai tiny', recordedParts());
    const call = key.read(run(controller.signal));
    controller.abort(new Error('cancelled'));
    await expect(call).rejects.toThrow('cancelled');
  });
});
