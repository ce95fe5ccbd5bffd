/** Requests to the worker of llama. */

/** How the model chooses its next word. The model's own settings, or those of llama.cpp, where one is missing. */
interface Sampling {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly repeatPenalty?: number | undefined;
}

/** Asks for the cards that the runtime can use, and loads nothing. */
interface CardsRequest {
  /** Path of the module node-llama-cpp. */
  readonly cards: string;
}

/** The worker loads a model when a request names another one than the one before. */
export interface PromptRequest {
  readonly load: {
    /** Path of the module node-llama-cpp. */
    readonly runtime: string;
    /** Path of the GGUF file. */
    readonly model: string;
    readonly threads: number;
    /** Tokens of a prompt with its answer. */
    readonly contextSize: number;
    /** False: on the processor, even if there is a card. */
    readonly gpu: boolean;
  };
  readonly prompt: string;
  readonly sampling: Sampling;
  /** The longest answer, in tokens. */
  readonly maxTokens: number;
}

export type LlamaRequest = CardsRequest | PromptRequest;

/** Where a model runs. */
export interface Place {
  /** The interface; that of Vulkan is also there for drivers without a card. */
  readonly gpu: 'cuda' | 'metal' | 'vulkan' | false;
  /** Names of the cards; empty without one. */
  readonly devices: readonly string[];
  /** Graphics memory before the model was loaded. */
  readonly freeBytes: number;
  /** Layers of the model on the cards, and all of them; 0 before it is loaded. */
  readonly layers: number;
  readonly totalLayers: number;
}

/** Before and after it loads a model, the worker says where; then it answers. */
export type LlamaPart = { readonly place: Place } | { readonly answer: string };
