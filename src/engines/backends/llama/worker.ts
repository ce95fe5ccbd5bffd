/** Entry point of a llama worker: node-llama-cpp in a process of its own, which a damaged model may end. */
import { pathToFileURL } from 'node:url';
import { sendLoaded, sendPart, serveRequests } from '../serve-requests.ts';
import type { LlamaRequest } from './requests.ts';

/** The part of node-llama-cpp that is used here. */
interface Runtime {
  getLlama(options: {
    readonly build: 'never';
    readonly gpu: 'auto';
    readonly maxThreads: number;
    readonly logLevel: 'error';
    readonly progressLogs: false;
  }): Promise<{
    loadModel(options: { readonly modelPath: string }): Promise<{
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

type Session = InstanceType<Runtime['LlamaChatSession']>;

let loaded: { readonly key: string; readonly session: Session } | null = null;

await serveRequests(async ({ load, prompt, sampling, maxTokens }: LlamaRequest) => {
  const key = JSON.stringify(load);
  if (loaded?.key !== key) {
    loaded = { key, session: await openSession(load) };
    sendLoaded();
  }
  const { repeatPenalty: penalty, ...others } = sampling;
  loaded.session.resetChatHistory();
  const repeatPenalty = penalty === undefined ? undefined : { penalty };
  sendPart(await loaded.session.prompt(prompt, { ...others, repeatPenalty, maxTokens }));
});

async function openSession({
  runtime,
  model: modelPath,
  threads,
  contextSize,
}: LlamaRequest['load']): Promise<Session> {
  const { getLlama, LlamaChatSession } = (await import(pathToFileURL(runtime).href)) as Runtime; // its version is locked
  const settings = { build: 'never', gpu: 'auto', logLevel: 'error', progressLogs: false } as const;
  const llama = await getLlama({ ...settings, maxThreads: threads });
  const model = await llama.loadModel({ modelPath }).catch((error: Error) => {
    throw new Error(
      `the model cannot be loaded (${error.message}): download it again, as \`vloc models install\` does`,
    );
  });
  const context = await model.createContext({ contextSize, threads });
  return new LlamaChatSession({ contextSequence: context.getSequence() });
}
