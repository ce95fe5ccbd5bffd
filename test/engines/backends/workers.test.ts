import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createModelMemory } from '../../../src/engines/backends/model-memory.ts';
import type { BackendParts } from '../../../src/engines/backends/parts.ts';
import { workerPath } from '../../../src/engines/backends/sherpa/model.ts';
import type { SherpaRequest } from '../../../src/engines/backends/sherpa/requests.ts';
import { createWorkers } from '../../../src/engines/backends/workers.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { isAlive } from '../workspace.ts';
import { writeTinyRecognizer, writeTinyVoice } from './sherpa/tiny-models.ts';
import { createParts, nodeScript, soundFile } from './user-program.ts';

const signal = new AbortController().signal;

/** Process ids of the workers that this process started. */
function workerIds(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const parent = Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
        const isWorker = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('sherpa/worker.ts');
        return isWorker && parent === process.pid && isAlive(pid);
      } catch {
        return false; // it ended meanwhile
      }
    });
}

function create(parts: Partial<BackendParts> = {}, timeout = 60, bytes = 0) {
  const workers = createWorkers<SherpaRequest, unknown>(
    { name: 'sherpa tiny', program: workerPath(), timeout, bytes },
    createParts(parts),
  );
  onTestFinished(() => workers.close());
  return workers;
}

/** A request to speak with the model of a folder. */
function speech(folder: string, text = 'hola'): SherpaRequest {
  const at = (name: string) => join(folder, name);
  const vits = { model: at('model.onnx'), tokens: at('tokens.txt'), lexicon: at('lexicon.txt') };
  const config = { model: { vits, numThreads: 1, provider: 'cpu', debug: 0 }, maxNumSentences: 1 };
  return { type: 'speak', config, text, speaker: 0, speed: 1, output: join(makeFolder(), 'a.wav') };
}

/** A request that keeps a worker busy for minutes. */
async function endlessWork(): Promise<SherpaRequest> {
  const folder = writeTinyRecognizer(makeFolder());
  const voice = await soundFile(folder, 10, [[1, 2]]);
  const nemoCtc = { model: join(folder, 'model.onnx') };
  const tokens = join(folder, 'tokens.txt');
  const modelConfig = { nemoCtc, tokens, numThreads: 1, provider: 'cpu', debug: 0 };
  const ranges = Array.from({ length: 20_000 }, () => ({ start: 0, end: 10 }));
  const config = { featConfig: { sampleRate: 16_000, featureDim: 80 }, modelConfig };
  return { type: 'recognize', config, voice, ranges };
}

describe('a worker', () => {
  test('loads a model once, serves one call after the other, gets a second one while it is busy, and ends when the backend is closed', async () => {
    const workers = create();
    const folder = writeTinyVoice(makeFolder());
    const request = speech(folder) as Extract<SherpaRequest, { type: 'speak' }>; // made so above
    await workers.call({ ...request, settings: { numSteps: 8, extra: { lang: 'es' } } }, signal);
    expect(readFileSync(request.output).length).toBeGreaterThan(10_000);
    const ids = workerIds();
    // A second load would fail.
    writeFileSync(join(folder, 'model.onnx'), '');
    await workers.call(speech(folder), signal);
    expect(ids).toHaveLength(1);
    expect(workerIds()).toEqual(ids);
    writeTinyVoice(folder);
    await Promise.all([workers.call(speech(folder), signal), workers.call(speech(folder), signal)]);
    expect(workerIds()).toHaveLength(2);
    await workers.close();
    expect(workerIds()).toEqual([]);
  });

  test('ends when it was idle for five minutes, and the next call starts another', async () => {
    const pauses: { ms: number; end: () => void }[] = [];
    const sleep = (ms: number, stop: AbortSignal) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      stop.addEventListener('abort', () => reject(stop.reason));
      pauses.push({ ms, end: resolve });
      return promise;
    };
    const workers = create({ sleep });
    const folder = writeTinyVoice(makeFolder());
    await workers.call(speech(folder), signal);
    await workers.call(speech(folder), signal);
    expect(pauses.map(({ ms }) => ms)).toEqual([300_000, 300_000]);
    pauses[0]?.end(); // it was taken again in time
    const [first] = workerIds();
    pauses[1]?.end();
    await expect.poll(workerIds).toEqual([]);
    await workers.call(speech(folder), signal);
    expect(workerIds()).toHaveLength(1);
    expect(workerIds()).not.toEqual([first]);
  });
});

/** Serves requests with the given body, in which `request` and `sendPart` are known. */
function ownWorkers(body: string, env: Record<string, string> = {}) {
  const serving = pathToFileURL('src/engines/backends/serve-requests.ts').href;
  const program = nodeScript(
    `import { writeFileSync } from 'node:fs';
    import { sendLoaded, sendPart, serveRequests } from ${JSON.stringify(serving)};
    await serveRequests(async (request) => { ${body} });`,
  );
  const workers = createWorkers<unknown, unknown>(
    { name: 'own', program, timeout: 60, bytes: 0, env: async () => env },
    createParts(),
  );
  onTestFinished(() => workers.close());
  return workers;
}

describe('the process of a worker', () => {
  test('has its own variables, and none of the user', async () => {
    const parts: unknown[] = [];
    const workers = ownWorkers('sendPart([process.env.OF_A_DRIVER, process.env.HOME])', {
      OF_A_DRIVER: 'yes',
    });
    await workers.call({}, signal, (part) => parts.push(part));
    expect(parts).toEqual([['yes', null]]);
  });

  test('may write what it keeps before it ends, because its stdin is closed', async () => {
    const kept = join(makeFolder(), 'kept');
    const workers = ownWorkers("process.once('exit', () => writeFileSync(request, 'shaders'))");
    await workers.call(kept, signal);
    await workers.close();
    expect(readFileSync(kept, 'utf8')).toBe('shaders');
  });

  test.each([
    ['SIGABRT', ''],
    ['SIGBUS', '; check that its files are complete'],
  ])(
    'that %s ends while it loads fails permanently, and is only about files if it may be',
    async (ended, advice) => {
      const workers = ownWorkers(`process.kill(process.pid, '${ended}'); await new Promise(() => {});`);
      await expect(workers.call({}, signal)).rejects.toMatchObject({
        message: `own ended with signal ${ended} while it was loaded${advice}`,
        permanent: true,
      });
    },
  );
});

describe('where memory has room for one model', () => {
  const MODEL = 400e6;
  const oneModel = () => ({ memory: createModelMemory(() => 1.5 * MODEL - MODEL * workerIds().length) });

  test('a call waits for the end of another, can be cancelled meanwhile, and unloads the model of one that is idle', async () => {
    const parts = oneModel();
    const [busy, waiting] = [create(parts, 60, MODEL), create(parts, 60, MODEL)];
    const [stopBusy, stopWaiting] = [new AbortController(), new AbortController()];
    const started = Promise.withResolvers<void>();
    const ended = busy.call(await endlessWork(), stopBusy.signal, () => started.resolve());
    await started.promise;
    const next = waiting.call(speech(writeTinyVoice(makeFolder())), signal);
    const cancelled = waiting.call(speech(writeTinyVoice(makeFolder())), stopWaiting.signal);
    stopWaiting.abort(new Error('not now'));
    await expect(cancelled).rejects.toThrow('not now');
    stopBusy.abort(new Error('enough'));
    await expect(ended).rejects.toThrow('enough');
    await next;
    const idle = workerIds();
    expect(idle).toHaveLength(1);
    await busy.call(speech(writeTinyVoice(makeFolder())), signal);
    expect(workerIds()).toHaveLength(1);
    expect(workerIds()).not.toEqual(idle);
  });
});

describe('a call', () => {
  test('that is cancelled ends its worker immediately, and others continue', async () => {
    const workers = create();
    const stop = new AbortController();
    let other: Promise<void> | undefined;
    // Another one may be heard before the process has ended.
    const onUtterance = () => {
      other ??= workers.call(speech(writeTinyVoice(makeFolder())), signal);
      stop.abort(new Error('enough'));
    };
    await expect(workers.call(await endlessWork(), stop.signal, onUtterance)).rejects.toThrow('enough');
    await other;
    expect(workerIds()).toHaveLength(1);
  });

  test('that was cancelled before starts nothing', async () => {
    const request = speech(writeTinyVoice(makeFolder()));
    const stopped = AbortSignal.abort(new Error('before'));
    await expect(create().call(request, stopped)).rejects.toThrow('before');
    expect(workerIds()).toEqual([]);
  });

  test('that takes too long is a failure, and leaves no process', async () => {
    const run = create({}, 0.5).call(await endlessWork(), signal);
    await expect(run).rejects.toMatchObject({
      code: 'ENGINE_ERROR',
      permanent: false,
      message: 'sherpa tiny did not finish within 0.5 s; if it needs longer, set "timeout" in engines.json',
    });
    expect(workerIds()).toEqual([]);
  });
});

describe('a model', () => {
  test('that is cut fails permanently', async () => {
    const folder = writeTinyVoice(makeFolder());
    const path = join(folder, 'model.onnx');
    const whole = readFileSync(path);
    writeFileSync(path, whole.subarray(0, whole.length / 2));
    await expect(create().call(speech(folder, 'hola mundo'), signal)).rejects.toMatchObject({
      code: 'ENGINE_ERROR',
      message: expect.stringMatching(/^sherpa tiny (ended with|failed)/),
      permanent: true,
    });
    expect(workerIds()).toEqual([]);
  });

  test('without tokens ends the process while it runs, which is a failure of this call, and works once it is repaired', async () => {
    const folder = writeTinyVoice(makeFolder());
    writeFileSync(join(folder, 'tokens.txt'), '');
    const workers = create();
    await expect(workers.call(speech(folder), signal)).rejects.toMatchObject({
      code: 'ENGINE_ERROR',
      message: expect.stringMatching(/^sherpa tiny ended with .* while it/),
    });
    expect(workerIds()).toEqual([]);
    writeTinyVoice(folder);
    await workers.call(speech(folder), signal);
  });
});
