/** Entry point of a llama worker: node-llama-cpp in a process of its own, which a damaged model may end. */
import { pathToFileURL } from 'node:url';
import { sendLoaded, sendPart, serveRequests } from '../serve-requests.ts';
import type { LlamaPart, LlamaRequest, Place, PromptRequest } from './requests.ts';

/** The part of node-llama-cpp that is used here. */
interface Runtime {
  getLlama(options: {
    readonly build: 'never';
    readonly gpu: 'auto' | false;
    readonly maxThreads: number;
    readonly logLevel: 'error';
    readonly progressLogs: false;
  }): Promise<{
    readonly gpu: Place['gpu'];
    getGpuDeviceNames(): Promise<readonly string[]>;
    getVramState(): Promise<{ readonly total: number; readonly free: number }>;
    loadModel(options: {
      readonly modelPath: string;
      readonly gpuLayers: 0 | { readonly fitContext: { readonly contextSize: number } };
    }): Promise<{
      readonly gpuLayers: number;
      readonly fileInsights: { readonly totalLayers: number };
      createContext(options: { readonly contextSize: number; readonly threads: number }): Promise<{
        getSequence(): object;
      }>;
    }>;
  }>;
  readonly LlamaChatSession: new (options: {
    readonly contextSequence: object;
  }) => {
    resetChatHistory(): void;
    prompt(
      text: string,
      options: {
        readonly temperature?: number | undefined;
        readonly topP?: number | undefined;
        readonly topK?: number | undefined;
        readonly repeatPenalty?: { readonly penalty: number } | undefined;
        readonly maxTokens: number;
      },
    ): Promise<string>;
  };
}

type Llama = Awaited<ReturnType<Runtime['getLlama']>>;
type Session = InstanceType<Runtime['LlamaChatSession']>;

/** The program for Apple's processors always opens the card; without layers on it, the processor computes. */
const HAS_ONE_PROGRAM = process.platform === 'darwin' && process.arch === 'arm64';

const send = (part: LlamaPart) => sendPart(part);

let loaded: { readonly key: string; readonly session: Session } | null = null;

await serveRequests(async (request: LlamaRequest) => {
  if ('cards' in request) {
    const { getLlama } = await importRuntime(request.cards);
    send({ place: await placeOf(await openLlama(getLlama, true, 1)) });
    return sendLoaded();
  }
  const { load, prompt, sampling, maxTokens } = request;
  const key = JSON.stringify(load);
  if (loaded?.key !== key) {
    loaded = { key, session: await openSession(load) };
    sendLoaded();
  }
  const { repeatPenalty: penalty, ...others } = sampling;
  loaded.session.resetChatHistory();
  const repeatPenalty = penalty === undefined ? undefined : { penalty };
  send({ answer: await loaded.session.prompt(prompt, { ...others, repeatPenalty, maxTokens }) });
});

async function importRuntime(path: string): Promise<Runtime> {
  return (await import(pathToFileURL(path).href)) as Runtime; // its version is locked
}

function openLlama(getLlama: Runtime['getLlama'], gpu: boolean, maxThreads: number): Promise<Llama> {
  const settings = { build: 'never', logLevel: 'error', progressLogs: false } as const;
  return getLlama({ ...settings, gpu: gpu || HAS_ONE_PROGRAM ? 'auto' : false, maxThreads });
}

async function placeOf(llama: Llama): Promise<Place> {
  const [devices, memory] = await Promise.all([llama.getGpuDeviceNames(), llama.getVramState()]);
  return { gpu: llama.gpu, devices, freeBytes: memory.free, layers: 0, totalLayers: 0 };
}

async function openSession({
  runtime,
  model: modelPath,
  threads,
  contextSize,
  gpu,
}: PromptRequest['load']): Promise<Session> {
  const { getLlama, LlamaChatSession } = await importRuntime(runtime);
  const llama = await openLlama(getLlama, gpu, threads);
  const place = await placeOf(llama);
  send({ place });
  const gpuLayers = gpu ? { fitContext: { contextSize } } : 0;
  const model = await llama.loadModel({ modelPath, gpuLayers }).catch((error: Error) => {
    const advice = place.devices.length > 0 ? '' : ': download it again, as `vloc models install` does';
    throw new Error(`the model cannot be loaded (${error.message})${advice}`);
  });
  const context = await model.createContext({ contextSize, threads });
  send({ place: { ...place, layers: model.gpuLayers, totalLayers: model.fileInsights.totalLayers } });
  return new LlamaChatSession({ contextSequence: context.getSequence() });
}
