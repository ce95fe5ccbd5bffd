/** Requests to the worker of llama. */

/** How the model chooses its next word. The model's own settings, or those of llama.cpp, where one is missing. */
interface Sampling {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly repeatPenalty?: number | undefined;
}

/** The worker loads a model when a request names another one than the one before. Each part of the result is an answer. */
export interface LlamaRequest {
  readonly load: {
    /** Path of the module node-llama-cpp. */
    readonly runtime: string;
    /** Path of the GGUF file. */
    readonly model: string;
    readonly threads: number;
    /** Tokens of a prompt with its answer. */
    readonly contextSize: number;
  };
  readonly prompt: string;
  readonly sampling: Sampling;
  /** The longest answer, in tokens. */
  readonly maxTokens: number;
}
