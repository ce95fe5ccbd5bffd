import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { COMMIT, type HubFaults } from '../../support/hub-server.ts';
import { describeFiles, writeTinyCatalog } from '../../support/tiny-catalog.ts';
import { type ModelsDesk, openModelsDesk } from './desk.ts';

let desk: ModelsDesk;
beforeEach(async () => {
  desk = await openModelsDesk();
});

const ALL = ['install', '--from', 'es', '--to', 'en', '--yes'];

/** A small file of one model and the large one of another: all files are downloaded in the same way. */
const SMALL = 'tiny-ears/tokens.txt';
const LARGE = 'tiny-voice/model.onnx';

describe('vloc models install', () => {
  it('downloads, tries and uses the models of the languages from a hub that is busy at first, and does nothing again for them', async () => {
    desk.hub.setFaults({ status: 503, times: 2, only: SMALL });
    const { code, stdout, stderr } = await desk.run(ALL);
    expect(stdout).toMatch(
      /^MODEL +USED FOR +LANGUAGES +DOWNLOAD +LICENCE +COMMERCIAL USE\ntiny-ears +recognize/,
    );
    expect(stderr).toContain('no model translates Spanish to English');
    expect(stderr).toContain('Trying tiny-ears with a short sample …\n');
    expect(stderr).toMatch(/It works: \d\.\d s of speech, 22050 Hz/);
    expect(code).toBe(0);
    expect(desk.names()).toEqual(['tiny-ears', 'tiny-voice']);
    const entry = (id: string, languages: string[]) => ({
      ...{ type: 'sherpa', folder: join(desk.models, id), languages, managed: id },
    });
    expect(desk.engines()).toMatchObject({
      recognize: [entry('tiny-ears', ['es']), 'pocketsphinx'],
      speak: [entry('tiny-voice', ['en']), 'flite', 'espeak-ng'],
    });
    const before = desk.hub.log.length;
    const again = await desk.run(ALL.filter((word) => word !== '--yes'));
    expect([again.code, desk.hub.log.length]).toEqual([0, before]);
    expect(again.stderr).toContain('All of them are installed.');
  });

  it('shows addresses and hashes with --dry-run, and downloads nothing', async () => {
    const { code, stdout } = await desk.run(['install', 'tiny-ears', '--dry-run', '-o', 'json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      data: [
        {
          id: 'tiny-ears',
          state: 'absent',
          files: [
            {
              path: 'model.onnx',
              url: `https://huggingface.co/tiny/tiny-ears/resolve/${COMMIT}/model.onnx`,
              sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
            },
            { path: 'tokens.txt' },
          ],
        },
      ],
    });
    expect([desk.hub.log, desk.names()]).toEqual([[], []]);
  });

  it('installs from copies in a folder that are whole, without the hub', async () => {
    const env = { HF_ENDPOINT: 'https://127.0.0.1:1' };
    const install = () => desk.run(['install', 'tiny-ears', '--yes', '--source', desk.copies], { env });
    const tokens = join(desk.copies, 'tiny-ears', 'tokens.txt');
    const whole = readFileSync(tokens);
    writeFileSync(tokens, 'X'.repeat(25));
    const damaged = await install();
    expect([damaged.code, damaged.stderr]).toEqual([
      7,
      expect.stringContaining('has the wrong size or SHA-256'),
    ]);
    rmSync(tokens);
    expect(await install()).toMatchObject({ code: 4, stderr: expect.stringContaining('cannot read') });
    expect([desk.names(), desk.engines()]).toEqual([['.tiny-ears'], null]);
    writeFileSync(tokens, whole);
    const { code, stderr } = await install();
    expect([code, stderr]).toEqual([0, expect.stringContaining('It works')]);
    expect(desk.names()).toEqual(['tiny-ears']);
  });

  it('sends the token to the hub and to no other origin', async () => {
    desk.hub.setFaults({ gated: true });
    const refused = await desk.run(['install', 'tiny-ears', '--yes']);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/refused tiny-ears\/\S+ \(status 401\)/);
    expect(refused.stderr).toContain('set HF_TOKEN');
    const { code, stderr } = await desk.run(['install', 'tiny-ears', '--yes'], {
      env: { HF_TOKEN: 'hf_secret' },
    });
    expect(code).toBe(0);
    expect(stderr).not.toContain('hf_secret');
    const sent = desk.hub.log.filter(({ authorization }) => authorization === 'Bearer hf_secret');
    expect(sent.length).toBe(2);
    expect(sent.filter(({ isForBytes }) => isForBytes)).toEqual([]);
  });

  it('goes through a proxy, which gets no token', async () => {
    const asked: IncomingMessage[] = [];
    const proxy = createServer().on('connect', (request, socket) => {
      asked.push(request);
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void proxy.close());
    const { port } = proxy.address() as AddressInfo; // a TCP server has one
    const { code, stderr } = await desk.run(['install', 'tiny-ears', '--yes'], {
      env: {
        HTTPS_PROXY: `http://127.0.0.1:${port}`,
        HF_ENDPOINT: 'https://mirror.example.com',
        HF_TOKEN: 'hf_secret',
      },
    });
    expect(code).not.toBe(0);
    expect(stderr).toContain('proxy');
    expect(asked.map(({ url }) => url)).toContain('mirror.example.com:443');
    expect(JSON.stringify(asked.map(({ headers }) => headers))).not.toContain('hf_secret');
  });

  it('refuses a mirror that is neither https nor on this machine', async () => {
    const env = { HF_ENDPOINT: 'http://mirror.example.com' };
    const { code, stderr } = await desk.run(['install', 'tiny-ears', '--yes'], { env });
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining('invalid HF_ENDPOINT: must start with https://'),
    ]);
  });

  it('uses no model that fails with the sample, and says why', async () => {
    const broken = join(desk.copies, 'tiny-voice', 'lexicon.txt');
    // A voice that knows no word of the sample says nothing.
    writeFileSync(broken, 'hola h o l a\n');
    const catalog = withFiles(desk);
    const { code, stderr } = await desk.run(['install', 'tiny-voice', '--yes'], { catalog });
    expect(code).toBe(4);
    expect(stderr).toContain('failed with the sample, and not used: tiny-voice: ');
    expect(desk.engines()).toBeNull();
  });

  it('asks for the acceptance of a licence by name', async () => {
    const [ears] = writeTinyCatalog(desk.copies).models;
    const licence = { ...ears?.licence, accept: 'tiny' };
    const catalog = { version: 1, models: [{ ...ears, licence }] };
    const refused = await desk.run(['install', 'tiny-ears', '--yes'], { catalog });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('then add --accept tiny') });
    expect(desk.hub.log).toEqual([]);
    desk.hub.setFaults({ status: 404 });
    await desk.run(['install', 'tiny-ears', '--yes', '--accept', 'tiny'], { catalog });
    expect(desk.hub.log).not.toEqual([]);
  });

  it.each([
    [['install', 'tiny-ear'], 'Did you mean tiny-ears?'],
    [['install', '--to', 'x!'], '"x!" is not a language'],
    [['install', '--from', 'de'], 'no model recognizes German'],
    [['install', 'tiny-ears'], '--yes is missing'],
    [['remove', 'tiny-ears'], 'tiny-ears is not installed'],
  ])('refuses %j', async (words, message) => {
    const { code, stderr } = await desk.run(words);
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
  });
});

/** The catalogue of the files as they are now. */
function withFiles({ copies }: ModelsDesk) {
  const lexicon = readFileSync(join(copies, 'tiny-voice', 'lexicon.txt'));
  const catalog = writeTinyCatalog(join(copies, '..', 'others'));
  const sha256 = createHash('sha256').update(lexicon).digest('hex');
  const models = catalog.models.map((model) => ({
    ...model,
    files: model.files.map((file) =>
      file.path === 'lexicon.txt' ? { ...file, bytes: lexicon.length, sha256 } : file,
    ),
  }));
  return { ...catalog, models };
}

describe('a fault of the hub', () => {
  it.each<readonly [string, string, HubFaults]>([
    [LARGE, 'has the wrong size or SHA-256', { flip: true }],
    [SMALL, 'did not return the file (status 503)', { status: 503 }],
    [SMALL, 'does not have', { status: 404 }],
  ])('in %s that stays is reported, and nothing is used: %s', async (only, message, faults) => {
    desk.hub.setFaults({ ...faults, only });
    const [id = ''] = only.split('/');
    const failed = await desk.run(['install', id, '--yes']);
    expect(failed.code).not.toBe(0);
    expect(failed.stderr).toContain(only);
    expect(failed.stderr).toContain(message);
    expect([desk.names(), desk.engines()]).toEqual([[`.${id}`], null]);
  });
});

describe('an interrupted download', () => {
  it('keeps what is there, and continues', async () => {
    // The last of the small files; the large one takes longer than all of them.
    const tokens = join(desk.models, '.tiny-voice', 'tokens.txt');
    desk.hub.setFaults({ only: 'model.onnx', slow: 1000 });
    const interrupted = await desk.run(['install', 'tiny-voice', '--yes'], {
      onStart: (send) =>
        void expect
          .poll(() => existsSync(tokens))
          .toBe(true)
          .then(() => send('SIGINT')),
    });
    expect(interrupted.code).toBe(130);
    expect([desk.names(), desk.engines()]).toEqual([['.tiny-voice'], null]);
    desk.hub.setFaults({});
    const before = desk.hub.log.length;
    expect((await desk.run(['install', 'tiny-voice', '--yes'])).code).toBe(0);
    const asked = desk.hub.log.slice(before).map(({ path }) => path);
    // The small files were whole.
    expect(asked.filter((path) => !path.endsWith('model.onnx'))).toEqual([]);
  });
});

it('an installed model is repaired where it is damaged, which vloc doctor says, replaced by another version, and removed with its entry', async () => {
  const install = (options?: Parameters<ModelsDesk['run']>[1]) =>
    desk.run(['install', 'tiny-ears', '--yes', '--source', desk.hub.url], {
      ...options,
      env: { HF_ENDPOINT: 'https://127.0.0.1:1' },
    });
  const state = async (catalog: unknown = desk.catalog) =>
    (await desk.run(['list', '-o', 'plain', '--fields', 'id,state'], { catalog })).stdout;
  expect((await install()).code).toBe(0);
  expect(await state()).toContain('tiny-ears\tcomplete\n');
  const folder = join(desk.models, 'tiny-ears');
  const file = join(folder, 'tokens.txt');
  writeFileSync(join(folder, 'number.fst'), 'foreign');
  writeFileSync(file, '');
  expect(await state()).toContain('tiny-ears\tdamaged\n');
  rmSync(file);
  // Its engines are found by no path: what they are is not asked here.
  const doctor = await desk.call(['doctor', '-o', 'json'], { env: { PATH: '' } });
  expect(JSON.parse(doctor.stdout).checks).toContainEqual(
    expect.objectContaining({
      ...{ check: 'model tiny-ears', state: 'fail', message: 'damaged: tokens.txt' },
      fix: 'vloc models install tiny-ears',
    }),
  );
  const before = desk.hub.log.length;
  expect((await install()).code).toBe(0);
  expect(await state()).toContain('tiny-ears\tcomplete\n');
  expect(desk.hub.log.slice(before).map(({ path }) => path)).toEqual(['/tiny-ears/tokens.txt']);
  expect(readdirSync(folder).toSorted()).toEqual(['installed.json', 'model.onnx', 'tokens.txt']);

  writeFileSync(join(desk.copies, 'tiny-ears', 'tokens.txt'), '▁be 0\n▁ 1\n<blk> 2\n');
  const [ears] = desk.catalog.models;
  const catalog = { version: 1, models: [{ ...ears, files: describeFiles(desk.copies, 'tiny-ears') }] };
  expect(await state(catalog)).toBe('tiny-ears\toutdated\n');
  expect((await install({ catalog })).code).toBe(0);
  expect(readFileSync(file, 'utf8')).toContain('▁be');
  expect(desk.names()).toEqual(['tiny-ears']);

  const { stdout } = await desk.run(['list', '--licences']);
  expect(stdout).toContain('Tiny models by nobody.');
  expect(stdout).toContain('https://example.com/licence');
  const { code, stderr } = await desk.run(['remove', 'tiny-ears']);
  expect([code, stderr]).toEqual([0, expect.stringContaining('Removed tiny-ears')]);
  expect(desk.names()).toEqual([]);
  expect(desk.engines()).not.toHaveProperty('recognize');
});
